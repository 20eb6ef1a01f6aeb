"""Finding a user's own coordinator: `FILE.py:OBJECT`."""

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from .guard import BadInput

if TYPE_CHECKING:
    from ..coordinator import Coordinator


def load_coordinator(where: str) -> "Coordinator":
    """Import the file and take the coordinator of that name from it. This runs the file's code.

    Raises `BadInput` when there is no such file or object, the file fails, or it is no `Coordinator`.
    """
    file, colon, name = where.rpartition(":")
    path = Path(file)
    if not colon or not file or not name:
        raise BadInput(
            f"{where!r} is not of the form FILE.py:OBJECT, for example team.py:coordinator, and there is "
            "no folder of agents' Markdown files at this path"
        )
    if path.suffix != ".py" or not path.is_file():
        raise BadInput(f"there is no Python file {file!r}: check the path before the colon")
    from ..coordinator import Coordinator

    found = getattr(_import(path), name, None)
    if not isinstance(found, Coordinator):
        kind = (
            "has no object"
            if found is None
            else f"holds a {type(found).__name__}, no Coordinator, as"
        )
        raise BadInput(
            f"{file!r} {kind} {name!r}: name a Coordinator that the file makes at its top level"
        )
    found.options = found.options | {"object": f"{path.absolute()}:{name}"}
    return found


def _import(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"Python cannot import {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    # As for a script: the folder's other files can be imported, and classes find their module.
    sys.path.insert(0, str(path.parent.absolute()))
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == spec.origin]
        place = f", line {lines[-1]}," if lines else ""
        raise BadInput(
            f"{str(path)!r}{place} fails when imported: {type(error).__name__}: {error}"
        ) from error
    return module
