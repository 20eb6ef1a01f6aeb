"""What must stand in a file for a search to find anything in it, looked for in its bytes.

Most files hold no match. Finding that out from the bytes costs a fraction of decoding them, bringing
them into one normal form and matching; so only the files that pass are searched.
"""

import re

_FOREIGN = re.compile(r"[^\x00-\x7f]|[;`K\n\r]+")
"""What ends a needle: NFC makes `;`, a grave accent or `K` of three other characters, so that their bytes
may stand for them; line ends may be written in two ways."""


class Needle:
    """The longest ASCII text that every match holds, whatever the file's normal form."""

    def __init__(self, texts: list[str], *, any_case: bool) -> None:
        """`texts`: texts that all stand in every match; `any_case`: as they are or in the other case."""
        runs = [run for text in texts for run in _FOREIGN.split(text)]
        self._bytes = max(runs, key=len, default="").encode()
        self._any_case = any_case
        if any_case:
            self._bytes = self._bytes.lower()

    def may_be_in(self, data: bytes) -> bool:
        """Whether a whole file with this content may hold a match; False is certain."""
        if not self._any_case:
            return self._bytes in data
        # Beyond ASCII other characters fold to ASCII ones, such as a long s.
        return not data.isascii() or self._bytes in data.lower()
