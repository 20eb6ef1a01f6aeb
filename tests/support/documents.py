"""PDF and DOCX files, made by hand."""

import io
import zipfile


def pdf(*pages: str, extra: bytes = b"") -> bytes:
    """Build a PDF by hand, one line of Helvetica text a page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font "
            b"<< /F1 3 0 R >> >> /Contents %d 0 R >>" % (5 + 2 * number)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for offset in offsets:
        out.write(b"%010d 00000 n \n" % offset)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R %s >>\n" % (len(objects) + 1, extra))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def docx(body: str, styles: str = "", head: str = "") -> bytes:
    """Build a DOCX file of the paragraphs and tables in `body`."""
    names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        document = f"{head}<w:document {names}><w:body>{body}</w:body></w:document>"
        archive.writestr("word/document.xml", document)
        if styles:
            archive.writestr("word/styles.xml", f"<w:styles {names}>{styles}</w:styles>")
    return out.getvalue()


def paragraph(text: str, style: str = "") -> str:
    """A paragraph for `docx`."""
    mark = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{mark}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'
