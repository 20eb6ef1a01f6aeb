"""Whether a run folder was made by this user here: the one thing that a folder from elsewhere cannot show.

Going on with a run reads the documents, imports the Python file and asks the server that its first event
names. So a run's folder gets a mark when it is made: that event, signed with a key that only this user's
account has. A folder without a fitting mark is gone on with only by whoever says that it is trusted.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from filesystem import RunFolder
from memory import RunStarted, dumps

from .errors import RunNotTrusted

MARK = "made-here"
"""The mark's file in a run folder."""
_KEY_BYTES = 32


def mark_as_ours(folder: RunFolder, started: RunStarted) -> None:
    """Sign a run's first event. Where no key can be kept there is no mark, and `--trust` is asked for."""
    key = _key(os.environ, make=True)
    if key is not None:
        folder.write_text(MARK, _signature(key, started) + "\n")


def is_ours(path: Path, started: RunStarted) -> bool:
    """True when this user made the run in the folder `path` and nobody changed its first event since."""
    key = _key(os.environ, make=False)
    if key is None:
        return False
    try:
        mark = (path / MARK).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return False
    return hmac.compare_digest(mark, _signature(key, started))


def check_ours(path: Path, started: RunStarted) -> None:
    """Raise `RunNotTrusted`, which says what going on would do, for a run that is not this user's."""
    if is_ours(path, started):
        return
    options = started.options
    reads = [f"read {place!r}" for place in _strings(options.get("docs"))]
    runs = [
        f"run the agents in {place!r}, which may be Python"
        for place in _strings(options.get("object"))
    ]
    sends = [
        f"send what is asked, and your API key, to {url!r}"
        for url in _strings(options.get("base_url"))
    ]
    does = "; ".join((*reads, *runs, *sends)) or "do what its log says"
    raise RunNotTrusted(
        f"the run in {str(path)!r} was not made by you here, or its first event was changed since. Going "
        f"on with it would: {does}. If that is what you want, say so with --trust (in Python: trust=True)"
    )


def _strings(value: object) -> list[str]:
    values: list[object] = list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType] - JSON
    return [part for part in values if isinstance(part, str)]


def _signature(key: bytes, started: RunStarted) -> str:
    signed = dumps([started.run_id, started.task, started.options])
    return hmac.new(key, signed, hashlib.sha256).hexdigest()


def _key(environment: Mapping[str, str], *, make: bool) -> bytes | None:
    """This account's key, in a file that only the owner can read; `None` when there is none."""
    state = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = Path(state) / "undrift" / "key"
    with contextlib.suppress(OSError):
        return _read(path)
    if not make:
        return None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            _write_new(path, secrets.token_bytes(_KEY_BYTES))
        return _read(path)
    except OSError:
        return None


def _read(path: Path) -> bytes:
    """The key; one that others could have read or written proves nothing."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        key = file.read(_KEY_BYTES + 1)
    if status.st_uid != os.geteuid() or status.st_mode & 0o077 or len(key) != _KEY_BYTES:
        raise PermissionError(f"{str(path)!r} is no key that only its owner can read")
    return key


def _write_new(path: Path, key: bytes) -> None:
    """Put the key there whole or not at all, and never over another one."""
    new = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(key)
        os.link(new, path)
    finally:
        os.unlink(new)
