"""The text that stands for a stored body."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filesystem import ArtifactRef, ArtifactStore, Ends, preview
from filesystem.previews import HEAD_LINES, SIDE, TAIL_LINES
from filesystem.text import count_lines, encode


def ref_for(body: str, kind: str = "text/plain") -> ArtifactRef:
    return ArtifactRef("ab" * 32, len(encode(body)), count_lines(body), kind, "")


def parts(text: str) -> tuple[str, str, str]:
    head, cut, tail = re.match(
        r"\[.*?\]\n(.*?)\n?(\[\.\.\. [^\n]* \.\.\.\])\n(.*)\Z", text, re.DOTALL
    ).groups()
    return head, cut, tail


def test_both_ends_and_the_call_that_reads_on():
    body = "".join(f"line {n}\n" for n in range(1, 1_001))
    text = preview(ref_for(body), body)
    assert text.startswith(
        "[/artifacts/abababababababab.txt: 8,893 bytes, 1,000 lines, text/plain]\n"
    )
    head, cut, tail = parts(text)
    assert head.splitlines() == [f"line {n}" for n in range(1, 11)]
    assert tail.splitlines() == [f"line {n}" for n in range(996, 1_001)]
    left = len(body) - len(head) - 1 - len(tail)
    assert f"{left:,} bytes, about 985 lines left out" in cut
    call = re.search(r'read_file\(path="(.*?)", start_char=(\d+)\)', cut)
    assert call[1] == "/artifacts/abababababababab.txt"
    assert body[int(call[2]) :].startswith("line 11\n")


def test_a_small_body_is_shown_whole():
    for body in ("", "one", "a\nb\n", "\n" * 15, "x" * 2_000 + "\n" + "y" * 1_500):
        text = preview(ref_for(body), body)
        assert text.split("]\n", 1)[1] == body
        assert "left out" not in text


def test_the_same_arguments_give_the_same_bytes():
    body = json.dumps({f"key {n}": "x" * n for n in range(300)})
    ref = ref_for(body, "application/json")
    assert preview(ref, body) == preview(ref, encode(body))


@given(
    st.text(st.sampled_from("\ud800\n\r\0\u0301\u200d\U0001f1e9") | st.characters(), max_size=30),
    st.integers(1, 400),
    st.sampled_from(["", "\n", "\r\n", "\u2028", "\f"]),
)
def test_ends_are_true_ends_within_their_limits(unit, times, end):
    body = (unit + end) * times
    text = preview(ref_for(body), body)
    assert len(text) < 2 * SIDE + 400
    if "left out; read on" not in text:
        assert text.endswith(body)
        return
    start = int(re.search(r"start_char=(\d+)\) \.\.\.\]", text)[1])
    head = text.split("]\n", 1)[1][:start]
    tail = text.rsplit(" ...]\n", 1)[1]
    assert body.startswith(head)
    assert body.endswith(tail)
    assert head
    assert head.count("\n") <= HEAD_LINES
    assert count_lines(tail) <= TAIL_LINES


def test_cut_between_whole_characters():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    body = family * 3_000
    head, _, tail = parts(preview(ref_for(body), body))
    assert len(head) % len(family) == 0
    assert len(tail) % len(family) == 0
    assert SIDE - len(family) <= len(head) <= SIDE


def test_ends_that_were_cut_anywhere_show_whole_characters():
    body = "mu\u031ba " * 2_000
    data = encode(body)
    for cut in range(20, 30):
        head, _, tail = parts(preview(ref_for(body), Ends(data[:cut], data[-cut:])))
        assert body.startswith(head)
        assert body[len(head)] != "\u031b"
        assert body.endswith(tail)
        assert tail[0] != "\u031b"


def test_json_shows_keys_and_lengths():
    body = json.dumps({"rows": list(range(500)), "note": "x" * 9_000, "ok": True, "in": {"a": 1}})
    text = preview(ref_for(body, "application/json"), body)
    assert (
        '4 keys: "rows" (500 items), "note" (9,000 characters), "ok" (true), "in" (1 keys)' in text
    )
    body = json.dumps([{"id": n, "name": "n" * 50} for n in range(200)])
    text = preview(ref_for(body, "application/json"), body)
    assert '200 items, the first an object with "id", "name"' in text
    assert "not valid JSON" in preview(ref_for("{nope}", "application/json"), "{nope}")
    many = json.dumps({f"key number {n}": n for n in range(10_000)})
    assert len(preview(ref_for(many, "application/json"), many)) < 2 * SIDE + 1_200


@pytest.mark.parametrize(("kind", "mark"), [("text/csv", ","), ("text/csv", ";")])
def test_a_table_shows_its_columns(kind, mark):
    body = f'"city, or town"{mark}year{mark}people\n' + f"Bonn{mark}1990{mark}300000\n" * 900
    assert "; 3 columns: city, or town, year, people]" in preview(ref_for(body, kind), body)


async def test_large_bodies_are_previewed_from_their_ends(tmp_path):
    store = ArtifactStore(tmp_path)
    body = "".join(f"Zeile {n} äöü\r\n" for n in range(400_000))
    ref = await store.put(body, origin="")
    ends = await store.ends(ref)
    assert len(ends.head) + len(ends.tail) < 40_000
    assert preview(ref, ends) == preview(ref, body)
    small = await store.put("a\nb", origin="")
    assert preview(small, await store.ends(small)) == preview(small, "a\nb")


def test_the_call_is_the_callers():
    body = "x" * 10_000
    text = preview(ref_for(body), body, read_call="open {path} at {start_char}")
    assert "read on: open /artifacts/abababababababab.txt at 2000 ..." in text
