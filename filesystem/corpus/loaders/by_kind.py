"""Choosing the loader of a file, and the sizes above which none is tried."""

from collections.abc import Callable
from pathlib import PurePosixPath

from ...errors import FileSkipped
from ..decode import decode
from ..extracted import Extracted
from ..sentences import SAYS_SOMETHING
from .plain import load_code, load_markdown, load_text

TEXT_LIMIT = 50 * 1024 * 1024
"""Bytes of a text file, and characters of an extracted text, above which a file is skipped."""
CONTAINER_LIMIT = 200 * 1024 * 1024
"""Bytes of a PDF or DOCX file, which are mostly pictures, above which it is skipped."""

_CODE = frozenset(
    [
        "py",
        "pyi",
        "js",
        "mjs",
        "cjs",
        "jsx",
        "ts",
        "tsx",
        "java",
        "kt",
        "scala",
        "c",
        "h",
        "cc",
        "cpp",
        "cxx",
        "hpp",
        "hh",
        "cs",
        "go",
        "rs",
        "rb",
        "php",
        "pl",
        "pm",
        "lua",
        "r",
        "jl",
        "swift",
        "m",
        "mm",
        "sh",
        "bash",
        "zsh",
        "fish",
        "ps1",
        "sql",
        "hs",
        "ml",
        "fs",
        "ex",
        "exs",
        "erl",
        "clj",
        "el",
        "lisp",
        "vim",
        "dart",
        "groovy",
        "gradle",
        "proto",
        "zig",
        "nim",
        "v",
        "sv",
        "vhd",
        "tf",
        "cmake",
        "css",
        "scss",
        "less",
        "vue",
        "svelte",
    ]
)
_NO_TEXT = {
    **dict.fromkeys(
        ["png", "jpg", "jpeg", "gif", "bmp", "webp", "tif", "tiff", "ico", "heic", "avif"],
        "picture",
    ),
    **dict.fromkeys(
        ["mp3", "wav", "ogg", "flac", "m4a", "mp4", "mkv", "mov", "avi", "webm"], "sound or video"
    ),
    **dict.fromkeys(
        ["zip", "gz", "bz2", "xz", "zst", "7z", "rar", "tar", "tgz", "jar", "whl"], "archive"
    ),
    **dict.fromkeys(
        [
            "doc",
            "xls",
            "xlsx",
            "ppt",
            "pptx",
            "odt",
            "ods",
            "odp",
            "rtf",
            "epub",
            "pages",
            "key",
            "numbers",
        ],
        "format not supported; save it as PDF or DOCX",
    ),
    **dict.fromkeys(["woff", "woff2", "ttf", "otf", "eot"], "font"),
    **dict.fromkeys(
        [
            "pyc",
            "so",
            "o",
            "a",
            "dll",
            "dylib",
            "exe",
            "class",
            "db",
            "sqlite",
            "sqlite3",
            "parquet",
            "npy",
        ],
        "binary",
    ),
}


def _load_pdf(data: bytes) -> Extracted:
    from .pdf import load_pdf

    return load_pdf(data)


def _load_docx(data: bytes) -> Extracted:
    from .docx import load_docx

    return load_docx(data)


def _load_page(data: bytes) -> Extracted:
    from .webpage import load_webpage

    return load_webpage(decode(data))


def _load_table(data: bytes) -> Extracted:
    from .tables import load_table

    return load_table(decode(data))


def _load_json(data: bytes) -> Extracted:
    from .jsontext import load_json

    return load_json(decode(data))


def _text_loader(loader: Callable[[str], Extracted]) -> Callable[[bytes], Extracted]:
    return lambda data: loader(decode(data))


_LOADERS: dict[str, Callable[[bytes], Extracted]] = {
    "pdf": _load_pdf,
    "docx": _load_docx,
    **dict.fromkeys(["md", "markdown", "mdx", "mkd", "qmd", "rmd"], _text_loader(load_markdown)),
    **dict.fromkeys(["html", "htm", "xhtml"], _load_page),
    **dict.fromkeys(["csv", "tsv"], _load_table),
    **dict.fromkeys(["json", "jsonl", "ndjson", "geojson", "ipynb"], _load_json),
    **dict.fromkeys(_CODE, _text_loader(load_code)),
}


def size_limit(source: str) -> int:
    """Give the bytes up to which a file of this name is read."""
    return CONTAINER_LIMIT if _ending(source) in ("pdf", "docx") else TEXT_LIMIT


def load(source: str, data: bytes) -> Extracted:
    """Extract the text of one file. Raises FileSkipped with the reason when there is none to read."""
    if not data:
        raise FileSkipped("empty file")
    ending = _ending(source)
    if ending in _NO_TEXT and b"\x00" in data[:8192]:
        raise FileSkipped(f"no text to read in .{ending}: {_NO_TEXT[ending]}")
    extracted = _loader(ending, data)(data)
    if len(extracted.text) > TEXT_LIMIT:
        raise FileSkipped(f"its text is over {TEXT_LIMIT // 1024**2} million characters")
    if not SAYS_SOMETHING.search(extracted.text):
        what = "no text on its pages (scanned pictures?)" if extracted.pages else "no text in it"
        raise FileSkipped(what)
    return extracted


def _ending(source: str) -> str:
    return PurePosixPath(source).suffix[1:].lower()


def _loader(ending: str, data: bytes) -> Callable[[bytes], Extracted]:
    """Pick by ending; by content when the ending says nothing."""
    if ending in _LOADERS:
        return _LOADERS[ending]
    if data.startswith(b"%PDF-"):
        return _load_pdf
    head = data[:200].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return _load_page
    return _text_loader(load_text)
