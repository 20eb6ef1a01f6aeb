"""Text on its way to a terminal: nothing from a model or a document may steer the terminal.

`visible` keeps everything readable and is for showing what a log holds; `clean` takes control sequences
out and is for messages and answers; `one_line` is for lists and the progress display.
"""

import io
import re
import sys

# ESC sequences as terminals read them: strings (OSC, DCS, APC, PM, SOS), CSI, and two-character ones.
_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 but tab and line feed, DEL, C1, marks that reorder text, line separators, and halves of a character.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def clean(text: str) -> str:
    """`text` without control sequences and control characters; tabs and line ends stay."""
    return _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n")))


def visible(text: str) -> str:
    r"""`text` with every control character written out, for example `\x1b`; tabs and line ends stay."""
    return _CONTROL.sub(_written_out, text)


def one_line(text: str, width: int = 80) -> str:
    """`text` cleaned and redacted, on one line of at most `width` characters."""
    flat = " ".join(_redact(clean(text[: 20 * width])).split())
    return flat if len(flat) <= width else flat[: width - 3].rstrip() + "..."


def say(text: str) -> None:
    """A line for the user on standard error, cleaned and redacted."""
    sys.stderr.write(clean(_redact(text)) + "\n")
    sys.stderr.flush()


def put(text: str, *, raw: bool = False) -> None:
    """Text and a line end on standard output; the caller has made it safe for a terminal.

    Without `raw` the values of the environment's keys are hidden, and nothing else: it may be content.
    """
    if not raw:
        from memory import redact_known

        text = redact_known(text)
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def put_bytes(data: bytes) -> None:
    """Exact bytes on standard output, no line end; on a terminal control characters are written out."""
    if sys.stdout.isatty():
        put(visible(data.decode("utf-8", "replace")), raw=True)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _redact(text: str) -> str:
    from memory import redact

    return redact(text)


def tolerate() -> None:
    """Let both streams write characters that their encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _written_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
