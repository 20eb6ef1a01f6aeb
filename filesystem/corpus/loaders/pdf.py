"""PDF through pypdfium2: text page by page."""

import threading
from typing import TYPE_CHECKING

from ...errors import FileSkipped
from ..extracted import Extracted
from .plain import markdown_headings

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_MAX_PAGES = 5_000
_PDFIUM = threading.Lock()  # PDFium is not safe to call from two threads
_PAGE_BREAK = "\n\n"


def load_pdf(data: bytes) -> Extracted:
    """Read the text of a PDF. Raises FileSkipped when it is broken, encrypted or too long.

    Headings come from the document's outline (one per page at most), else from Markdown marks in its
    text, which exported notes keep.
    """
    import pypdfium2

    if b"%PDF-" not in data[:1024]:
        raise FileSkipped("broken PDF: it does not begin like one")
    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise FileSkipped(_reason(error)) from error
        try:
            return _read(document)
        except pypdfium2.PdfiumError as error:
            raise FileSkipped(f"broken PDF: {error}") from error
        finally:
            document.close()


def _read(document: "PdfDocument") -> Extracted:
    if len(document) > _MAX_PAGES:
        raise FileSkipped(f"too long: {len(document)} pages, the limit is {_MAX_PAGES}")
    texts = [_page_text(document, number) for number in range(len(document))]
    starts: list[int] = []
    offset = 0
    for text in texts:
        starts.append(offset)
        offset += len(text) + len(_PAGE_BREAK)
    whole = _PAGE_BREAK.join(texts)
    marked = markdown_headings(whole)
    title = (document.get_metadata_value("Title") or "").strip()
    headings = _outline(document, starts) or marked.paths
    return Extracted(whole, title or marked.first, headings, pages=starts or [0])


def _page_text(document: "PdfDocument", number: int) -> str:
    page = document[number]
    try:
        text = page.get_textpage().get_text_range()
    finally:
        page.close()
    # PDFium marks a word broken at a line end; joined again it can be searched and quoted.
    text = text.replace("\x02\r\n", "").replace("\x02", "").replace("\ufffe", "")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip()


def _outline(document: "PdfDocument", starts: list[int]) -> list[tuple[int, str]]:
    """The first entry of the outline on each page, as headings."""
    headings: dict[int, str] = {}
    for entry in document.get_toc(max_depth=3):
        target = entry.get_dest()
        page = target.get_index() if target else None
        if page is not None and 0 <= page < len(starts):
            headings.setdefault(starts[page], " ".join(entry.get_title().split())[:200])
    return sorted((at, title) for at, title in headings.items() if title)


def _reason(error: Exception) -> str:
    if "password" in str(error).lower():
        return "encrypted PDF: it needs a password"
    return f"broken PDF: {error}"
