"""DOCX with the standard library alone: a zip of XML, both read with limits."""

import io
import re
import zipfile
from xml.parsers import expat

from ...errors import FileSkipped
from ..extracted import Extracted
from .plain import Headings, markdown_headings

_MAX_PART = 100 * 1024 * 1024  # bytes of one unpacked part
_MAX_RATIO = 200  # unpacked to packed size; text packs 5 to 30 times, a bomb 1,000 times
_PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_MARKS = {"w:tab": "\t", "w:br": " ", "w:cr": " ", "w:noBreakHyphen": "-"}
_UNSEEN = frozenset({"w:del", "w:moveFrom", "mc:Fallback", "w:instrText"})
_HEADING_NAME = re.compile(r"(?:heading|title)\s*(\d?)", re.I)


def load_docx(data: bytes) -> Extracted:
    """Read the paragraphs of a DOCX, each on a line; a table row is a line with cells between "|".

    Raises FileSkipped when it is broken, encrypted, or unpacks to far more than a document would.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            if _PARTS[0] not in names:
                raise FileSkipped("broken DOCX: no document in it")
            styles = _Styles()
            if "word/styles.xml" in names:
                _parse(_unpack(archive, "word/styles.xml"), styles)
            body = _Body(styles.levels)
            for part in _PARTS:
                if part in names:
                    _parse(_unpack(archive, part), body)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise FileSkipped(_reason(data, error)) from error
    except (expat.ExpatError, RuntimeError) as error:
        raise FileSkipped(f"broken DOCX: {error}") from error
    return body.extracted()


def _reason(data: bytes, error: Exception) -> str:
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return "encrypted DOCX, or an old Word file under a new name"
    return f"broken DOCX: {error}"


def _unpack(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    suspicious = info.file_size > 10 * 1024 * 1024 and (
        info.file_size > info.compress_size * _MAX_RATIO
    )
    if info.file_size > _MAX_PART or suspicious:
        raise FileSkipped(f"DOCX unpacks to {info.file_size:,} bytes: refused as a zip bomb")
    with archive.open(info) as part:
        unpacked = part.read(info.file_size + 1)
    if len(unpacked) > info.file_size:
        raise FileSkipped("DOCX holds more than it declares: refused as a zip bomb")
    return unpacked


class _Reader:
    """Receives the elements of one part; names keep their "w:" prefix."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def data(self, text: str) -> None: ...


def _parse(xml: bytes, reader: _Reader) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.buffer_text = True
    parser.Parse(xml, True)


def _refuse_doctype(*_: object) -> None:
    raise FileSkipped("DOCX declares a document type, which can expand without end: refused")


class _Styles(_Reader):
    """Finds the heading levels of the styles; their names are English in every language of Word."""

    def __init__(self) -> None:
        self.levels: dict[str, int] = {}
        self._style = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "w:style":
            self._style = attributes.get("w:styleId", "")
            return
        found = _HEADING_NAME.fullmatch(attributes.get("w:val", "")) if name == "w:name" else None
        if found and self._style:
            self.levels[self._style] = int(found[1] or 1)


class _Body(_Reader):
    """Turns paragraphs and tables into lines."""

    def __init__(self, levels: dict[str, int]) -> None:
        self._levels = levels
        self._out: list[str] = []
        self._length = 0
        self._headings = Headings()
        self._paragraph: list[str] = []
        self._rows: list[list[list[str]]] = []  # the open table rows: cells of paragraphs
        self._level = 0
        self._unseen = 0
        self._in_text = False

    def extracted(self) -> Extracted:
        text = "".join(self._out).rstrip()
        headings = self._headings.paths or markdown_headings(text).paths
        title = headings[0][1] if headings else ""
        return Extracted(text, title, headings)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._unseen += name in _UNSEEN
        if self._unseen:
            return
        if name == "w:t":
            self._in_text = True
        elif name == "w:pStyle":
            self._level = self._levels.get(attributes.get("w:val", ""), 0)
        elif name == "w:tr":
            self._rows.append([])
        elif name == "w:tc" and self._rows:
            self._rows[-1].append([])
        elif name in _MARKS:
            self._paragraph.append(_MARKS[name])

    def end(self, name: str) -> None:
        if self._unseen:
            self._unseen -= name in _UNSEEN
        elif name == "w:t":
            self._in_text = False
        elif name == "w:p":
            self._end_paragraph()
        elif name == "w:tr" and self._rows:
            self._end_row(self._rows.pop())

    def data(self, text: str) -> None:
        if self._in_text and not self._unseen:
            self._paragraph.append(text)

    def _end_paragraph(self) -> None:
        text = "".join(self._paragraph)
        level, self._level, self._paragraph = self._level, 0, []
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append(text)
            return
        if level and text.strip():
            self._headings.add(self._length, level, text)
        self._write(text)

    def _end_row(self, cells: list[list[str]]) -> None:
        row = " | ".join(" ".join(" ".join(cell).split()) for cell in cells)
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append(row)  # a table inside a cell
        else:
            self._write(row)

    def _write(self, line: str) -> None:
        self._out.append(line + "\n")
        self._length += len(line) + 1
