"""Random operations on both stores at once, against a plain dict."""

import asyncio
import hashlib
import shutil
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from filesystem import (
    ABSENT,
    DiskStore,
    EditAmbiguous,
    EditNoMatch,
    FileMissing,
    MemoryStore,
    Query,
    WriteConflict,
)

paths = st.sampled_from(["a", "b.md", "dir/c", "dir/d..e", "dir/sub/f", "e\u0301x"])
pieces = st.sampled_from(
    [
        "\r\n",
        "\n",
        "\f",
        "\u2028",
        "\0",
        "\ud800",
        "\udc00",
        "e\u0301",
        "\u00e9",
        "\U0001f468\u200d",
    ]
)
texts = st.lists(
    pieces | st.text(st.characters(exclude_categories=()), max_size=4), max_size=6
).map("".join)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class StoreMachine(RuleBasedStateMachine):
    """The model is a dict; what the dict would refuse, both stores must refuse."""

    @initialize()
    def start(self):
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.mkdtemp()
        self.stores = (MemoryStore(), DiskStore(Path(self.folder)))
        self.model: dict[str, bytes] = {}

    def run(self, call):
        """Return what both stores answer to `call`, which is a function of a store."""
        first, second = (self.loop.run_until_complete(call(store)) for store in self.stores)
        assert first == second
        return first

    def fails(self, error, call):
        for store in self.stores:
            with pytest.raises(error):
                self.loop.run_until_complete(call(store))

    @rule(path=paths, text=texts, condition=st.sampled_from([None, ABSENT, "right", "wrong"]))
    def write(self, path, text, condition):
        there = self.model.get(path)
        if_hash = {"right": sha(there or b""), "wrong": sha(b"other"), None: None}.get(
            condition, ABSENT
        )
        holds = {None: True, ABSENT: there is None, "right": there is not None, "wrong": False}

        def call(store):
            return store.write(path, text, if_hash=if_hash)

        if holds[condition]:
            assert self.run(call).sha256 == sha(encoded(text))
            self.model[path] = encoded(text)
        else:
            self.fails(WriteConflict, call)

    @rule(path=paths, text=texts)
    def append(self, path, text):
        self.model[path] = self.model.get(path, b"") + encoded(text)
        assert self.run(lambda store: store.append(path, text)) == len(self.model[path])

    @rule(path=paths, data=st.data(), new=texts, every=st.booleans())
    def edit(self, path, data, new, every):
        text = self.model.get(path, b"").decode("utf-8", "surrogatepass")
        start = data.draw(st.integers(0, len(text)))
        old = text[start : start + data.draw(st.integers(1, 6))] or "absent text"
        crlf_only = text.count("\r\n") == text.count("\n") > 0
        if old == new or ("\n" in old + new and "\r" not in old + new and crlf_only):
            return  # refused, or translated: tests of their own

        def call(store):
            return store.edit(path, old, new, every=every)

        if path not in self.model:
            self.fails(FileMissing, call)
        elif old not in text:
            self.fails(EditNoMatch, call)
        elif text.count(old) > 1 and not every:
            self.fails(EditAmbiguous, call)
        else:
            assert self.run(call).replaced == text.count(old)
            self.model[path] = encoded(text.replace(old, new))

    @rule(path=paths)
    def delete(self, path):
        def call(store):
            return store.delete(path)

        if self.model.pop(path, None) is None:
            self.fails(FileMissing, call)
        else:
            self.run(call)

    @rule(path=paths, start=st.integers(0, 30), limit=st.none() | st.integers(0, 30))
    def read(self, path, start, limit):
        def call(store):
            return store.read(path, start, limit)

        if path not in self.model:
            self.fails(FileMissing, call)
        else:
            end = None if limit is None else start + limit
            assert self.run(call) == self.model[path][start:end]

    @rule(line=st.sampled_from(["\u00e9", "e\u0301x", "\0", "\ud800"]))
    def grep(self, line):
        found = self.run(lambda store: store.grep(Query(line)))
        wanted = unicodedata.normalize("NFC", line)
        expected = [
            (path, number)
            for path in sorted(self.model, key=lambda path: path.split("/"))
            for number, text in enumerate(
                self.model[path].decode("utf-8", "surrogatepass").split("\n"), 1
            )
            if wanted in unicodedata.normalize("NFC", text)
        ]
        assert [(hit.path, hit.line) for hit in found.hits] == expected

    @rule()
    def list_all(self):
        listed = self.run(lambda store: store.glob())
        assert {entry.path: entry.size for entry in listed} == {
            path: len(data) for path, data in self.model.items()
        }

    def teardown(self):
        if not hasattr(self, "model"):
            return
        self.list_all()
        for path, data in self.model.items():
            assert self.run(lambda store, path=path: store.read(path)) == data
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        shutil.rmtree(self.folder)


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(
    max_examples=500,
    stateful_step_count=6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
