"""Values that must come back verbatim: identifiers of ten kinds, and look-alikes of each."""

import base64
import uuid
from collections.abc import Callable
from random import Random

KINDS: dict[str, Callable[[Random], str]] = {
    "uuid": lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
    "hash": lambda r: f"{r.getrandbits(160):040x}",
    "ipv4": lambda r: ".".join(str(r.randint(10, 250)) for _ in range(4)),
    "ipv6": lambda r: ":".join(f"{r.getrandbits(16):04x}" for _ in range(8)),
    "host": lambda r: f"node-{r.randint(100, 999)}.depot.example:{r.randint(1024, 65535)}",
    "version": lambda r: (
        f"{r.randint(10, 40)}.{r.randint(10, 99)}.{r.randint(10, 99)}-rc{r.randint(1, 9)}"
    ),
    "time": lambda r: (
        f"20{r.randint(10, 40)}-{r.randint(10, 12)}-{r.randint(10, 28)}T"
        f"{r.randint(10, 23)}:{r.randint(10, 59)}:{r.randint(10, 59)}+0{r.randint(1, 9)}:30"
    ),
    "money": lambda r: f"{r.randint(100, 999)},{r.randint(100, 999)}.{r.randint(10, 99)} EUR",
    "path": lambda r: f"/srv/old files/batch {r.randint(1000, 9999)}/part {r.randint(10, 99)}.tar",
    "base64": lambda r: base64.b64encode(r.randbytes(24)).decode(),
}
"""By kind."""


def value_of(kind: str, random: Random) -> str:
    """A new value of a kind."""
    return KINDS[kind](random)


def look_alike(value: str, random: Random) -> str:
    """The value with one of its digits, or letters where it has none, changed to another."""
    places = [n for n, char in enumerate(value) if char.isdigit()] or [
        n for n, char in enumerate(value) if char.isalpha()
    ]
    place = random.choice(places)
    others = "123456789" if value[place].isdigit() else "abcdef"
    other = random.choice([char for char in others if char != value[place].lower()])
    return value[:place] + other + value[place + 1 :]
