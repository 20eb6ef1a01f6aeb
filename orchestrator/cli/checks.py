"""The checks behind `undrift doctor`: each says what it found, and whether anything needed is broken."""

import ctypes
import errno
import os
import platform
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Literal

OLDEST_PYTHON = (3, 11)
VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "UNDRIFT_DEBUG",
)
_OPENAT2 = 437
"""Number of the system call, equal on x86_64 and aarch64."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    state: Literal["ok", "note", "broken"]
    """`note`: worth knowing, not needed; `broken`: Undrift cannot do its work like this."""
    name: str
    found: str
    """What was found and, when broken, what to do."""


def python() -> Check:
    """Is this Python new enough?"""
    enough = sys.version_info >= OLDEST_PYTHON
    said = f"{platform.python_version()} at {sys.executable}"
    return Check("ok" if enough else "broken", "Python", said + ("" if enough else "; use 3.11"))


def packages() -> Iterator[Check]:
    """Which packages that Undrift needs are installed, and which extras are complete."""
    try:
        version, needed = metadata.version("undrift"), metadata.requires("undrift") or []
    except metadata.PackageNotFoundError:
        yield Check("broken", "undrift", "is not installed here; install it: pip install undrift")
        return
    yield Check("ok", "undrift", version)
    extras: dict[str, list[str]] = {}
    for line in needed:
        name = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", line)
        if extra:
            extras.setdefault(extra[1], []).append(name)
        else:
            yield _package(name)
    for extra, names in extras.items():
        missing = [name for name in names if _version(name) is None]
        found = f"not installed: {', '.join(missing)}" if missing else "installed"
        yield Check("note" if missing else "ok", f"extra [{extra}]", found)


def own_packages() -> Check:
    """Are the packages that Python finds ours, or another distribution's of the same name?"""
    home = Path(__file__).resolve().parents[2]
    for name in ("filesystem", "memory", "agents", "orchestrator"):
        spec = util.find_spec(name)
        found = Path(spec.origin).resolve().parent if spec and spec.origin else None
        if found != home / name:
            advice = "install Undrift in a virtual environment of its own"
            return Check("broken", "own packages", f"{name!r} is found at {str(found)!r}; {advice}")
    return Check("ok", "own packages", f"in {str(home)!r}")


def sqlite() -> Check:
    """Does SQLite have full-text search?"""
    db = sqlite3.connect(":memory:")
    try:
        db.execute("create virtual table words using fts5(word)")
    except sqlite3.Error as error:
        return Check(
            "broken",
            "SQLite",
            f"{sqlite3.sqlite_version} without FTS5 ({error}); use another Python",
        )
    finally:
        db.close()
    return Check("ok", "SQLite", f"{sqlite3.sqlite_version} with FTS5")


def openat2() -> Check:
    """Can the kernel keep file access inside a folder by itself?"""
    if sys.platform != "linux":
        return Check("note", "openat2", "no Linux; folders are walked part by part")
    # Refused in any case for its arguments: only how tells whether the call exists.
    ctypes.CDLL(None, use_errno=True).syscall(_OPENAT2, -1, None, None, 0)
    if ctypes.get_errno() in (errno.ENOSYS, errno.EPERM):
        return Check(
            "note", "openat2", "not allowed by this kernel; folders are walked part by part"
        )
    return Check("ok", "openat2", "available")


def variables() -> Iterator[Check]:
    """Which environment variables are set; never their values."""
    for name in VARIABLES:
        is_set = bool(os.environ.get(name) or os.environ.get(name.lower()))
        yield Check("ok" if is_set else "note", name, "set" if is_set else "not set")


def runs_folder(folder: Path) -> Check:
    """Can runs be written in this folder, or can it be made?"""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place) as probe:
            probe.write(b"undrift")
            probe.flush()
    except OSError as error:
        advice = "choose another folder with --out"
        return Check(
            "broken", "runs folder", f"{str(place)!r}: {error.strerror or error}; {advice}"
        )
    what = "can be written" if place == folder else "does not exist yet and can be made"
    return Check("ok", "runs folder", f"{str(folder)!r} {what}")


def endpoint(address: str) -> Check:
    """Does a server answer at this base URL? Any HTTP answer counts; no key is sent."""
    from urllib.error import HTTPError, URLError
    from urllib.parse import urlsplit, urlunsplit
    from urllib.request import urlopen

    parts = urlsplit(address)
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    try:
        with urlopen(address.rstrip("/") + "/models", timeout=5) as answer:  # noqa: S310 - http(s), checked by the caller
            said = f"answers with status {answer.status}"
    except HTTPError as error:
        said = f"answers with status {error.code}"
        error.close()
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return Check(
            "broken", "base URL", f"{shown!r} gives no answer: {reason}; is the server running?"
        )
    return Check("ok", "base URL", f"{shown!r} {said}")


def _package(name: str) -> Check:
    version = _version(name)
    if version is None:
        return Check("broken", name, f"not installed; pip install {name}")
    return Check("ok", name, version)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
