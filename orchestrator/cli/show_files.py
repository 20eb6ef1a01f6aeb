"""`undrift show --artifacts` and `--file`: the stored bodies of a run, and the files of its agents."""

from pathlib import Path

from .guard import BadInput
from .screen import one_line, put, put_bytes, say, visible

MAIN = "main"


def artifacts(folder: Path) -> None:
    """List the stored bodies of a run with size, kind and where they came from."""
    from filesystem import ArtifactStore, RunFolder
    from memory import Entry, redact, refs_in, salvage_entries

    run = RunFolder.open(folder)
    entries, _ = salvage_entries(run.events_db)
    store = ArtifactStore(run.artifacts)

    def told(entry: Entry) -> list[tuple[str, str]]:
        content = getattr(entry.event, "content", ())
        return [(ref.sha256, ref.origin) for ref in refs_in(content)]

    origins = dict(pair for entry in entries for pair in told(entry))
    names = store.names()
    for sha in names:
        path = next(run.artifacts.glob(f"{sha}.*"))
        origin = redact(origins.get(sha, ""))
        shown = f"/artifacts/{sha[:16]}{path.suffix}  {path.stat().st_size:,} bytes"
        put(f"{shown}  {one_line(origin, 200)}".rstrip())
    if not names:
        say(f"run {run.run_id!r} has no stored bodies")


def file(folder: Path, path: str, thread: str | None, raw: bool) -> None:
    """Print one file of an agent, or one stored body."""
    from filesystem import ArtifactStore, DiskStore, FileError, RunFolder
    from memory import redact

    run = RunFolder.open(folder)
    asked = path if path.startswith("/") else f"/files/{path}"
    place, _, inner = asked.lstrip("/").partition("/")
    places = {
        "files": run.files / (thread or MAIN),
        "inputs": run.path / "inputs" / (thread or MAIN),
        "shared": run.path / "shared",
        "transcripts": run.transcripts,
    }
    try:
        if place == "artifacts":
            with ArtifactStore(run.artifacts).open(asked) as body:
                data = body.read()
        elif place in places and places[place].is_dir():
            import asyncio

            data = asyncio.run(DiskStore(places[place]).read(inner))
        else:
            there = sorted(p.name for p in run.files.iterdir()) if run.files.is_dir() else []
            raise BadInput(
                f"run {run.run_id!r} has no {asked!r}; threads with files: {', '.join(there) or 'none'} "
                "(--thread T), stored bodies: --artifacts"
            )
    except FileError as error:
        raise BadInput(str(error)) from error
    if raw:
        put_bytes(data)
        return
    put(visible(redact(data.decode("utf-8", "replace"))))
