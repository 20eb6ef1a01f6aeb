"""Token counts: the estimate against the exact vocabulary, counts kept per item, the provider's reports."""

import importlib.util
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.histories import histories, reply
from support.prose import texts

from agents import AnthropicCodec, ChatCodec
from memory import (
    Calibration,
    Codec,
    ConfigSet,
    ContextCompacted,
    Entry,
    EstimateCounter,
    Event,
    Image,
    MemoryEventLog,
    MessageAdded,
    Replacement,
    ReplyReceived,
    RequestSent,
    Text,
    Thread,
    ToolCall,
    ToolReturned,
    Unknown,
    Usage,
    VocabularyCounter,
    best_counter,
    count_head,
    count_piece,
    estimate_tokens,
)

# Counted with o200k; `test_the_pinned_counts_are_exact` checks them where the vocabulary is installed.
EXACT = {
    "English": 216,
    "Python": 1334,
    "JSON": 1860,
    "Vietnamese": 251,
    "Chinese": 224,
    "Japanese": 261,
    "Korean": 217,
    "base64": 1377,
    "UUIDs": 1414,
    "tool output": 565,
}
CODECS: list[Codec] = [ChatCodec(), ChatCodec(tools="schema"), AnthropicCodec()]
needs_vocabulary = pytest.mark.skipif(
    importlib.util.find_spec("toktok") is None, reason="needs the extra `tokens`"
)
# What pairs of classes at the joint of two texts may weigh.
JOINT = 8


def config(codec: Codec, tools: tuple[dict[str, object], ...] = (), model: str = "m") -> ConfigSet:
    settings = {"model": model, "max_tokens": 10}
    return ConfigSet(
        model, codec.name, codec.version, dict(codec.options), "Be brief.", tools, settings
    )


def thread_of(codec: Codec, *events: Event, counter: EstimateCounter | None = None) -> Thread:
    thread = Thread(MemoryEventLog(), "t", counter=counter or EstimateCounter())
    thread.configure(config(codec), codec)
    for event in events:
        thread.append(event)
    return thread


@pytest.mark.parametrize("name", EXACT)
def test_case_43_the_estimate_is_within_12_percent_on_every_class(name: str) -> None:
    assert abs(estimate_tokens(texts()[name]) / EXACT[name] - 1) <= 0.12


@needs_vocabulary
def test_the_pinned_counts_are_exact() -> None:
    counter = VocabularyCounter()
    assert {name: counter.count(text) for name, text in texts().items()} == EXACT
    assert best_counter().name == "o200k"
    assert counter.count("a\ud800b") == counter.count("a?b")


def test_without_the_vocabulary_the_estimate_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    best_counter.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    try:
        assert best_counter().name == "estimate"
    finally:
        best_counter.cache_clear()


any_text = st.text(st.characters(blacklist_categories=()), max_size=60) | st.text(
    st.sampled_from("aAb1 \n.-日かカ한ẹ́ệ😀\ud800"), max_size=60
)


@given(any_text, any_text)
def test_the_estimate_grows_with_its_text_and_adds_up(first: str, second: str) -> None:
    one, two, both = map(estimate_tokens, (first, second, first + second))
    assert max(one, two) - JOINT <= both
    assert one <= both
    assert abs(both - one - two) <= JOINT
    assert (one == 0) is (first == "")


@given(st.sampled_from("a1(=日 \nAb"), st.integers(1, 5))
def test_the_estimate_is_linear_in_a_run_of_anything(char: str, times: int) -> None:
    base = estimate_tokens(char * 1000)
    assert abs(estimate_tokens(char * 1000 * times) - base * times) <= 2 * times + 2


@given(history=histories)
def test_case_18_any_history_of_any_blocks_can_be_counted(history: list[Entry]) -> None:
    for codec in CODECS:
        thread = thread_of(codec, *(entry.event for entry in history))
        assert thread.tokens >= thread.head_tokens > 0
        assert len(thread.item_tokens) == len(thread.context.items)
        assert abs(sum(thread.item_tokens) + thread.head_tokens - thread.tokens) <= len(history) + 1


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_images_unknown_blocks_and_tool_schemas_count(codec: Codec) -> None:
    user = thread_of(codec, MessageAdded((Text("look"),)))
    image = thread_of(codec, MessageAdded((Text("look"), Image("image/png", "QUJD" * 100_000))))
    assert 1500 <= image.tokens - user.tokens <= 1700
    unknown = thread_of(codec, MessageAdded((Unknown("audio", {"transcript": "la " * 500}),)))
    assert unknown.tokens - user.tokens > 300
    counter = EstimateCounter()
    tool = {"name": "search", "description": "Search. " * 50, "parameters": {"type": "object"}}
    bare, with_tool = config(codec), config(codec, (tool,))
    assert count_head(codec.head(with_tool), counter) - count_head(codec.head(bare), counter) > 60


def test_escapes_keys_and_ids_do_not_count_as_text() -> None:
    text = 'line one\nline "two"\tend\n' * 50
    for codec in CODECS:
        thread = thread_of(codec, MessageAdded((Text(text),)))
        (item,) = thread.item_tokens
        assert abs(item - estimate_tokens(text)) <= 4
    assert count_piece(b"not json \xff", EstimateCounter()) > 4


@dataclass
class Noting(EstimateCounter):
    """An estimate that notes how much text it was given."""

    characters: int = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return super().count(text)


def test_a_turn_counts_what_is_new_and_nothing_twice() -> None:
    counter = Noting()
    thread = thread_of(ChatCodec(), MessageAdded((Text("x" * 5000),)), counter=counter)
    thread.request()
    for _ in range(20):
        before = counter.characters
        thread.append(reply((Text("step"), ToolCall("a", "f", "{}"))))
        thread.append(ToolReturned("a", "f", (Text("y" * 100),)))
        thread.request("tail")
        assert counter.characters - before < 200
        assert thread.tokens == thread.tokens


def test_a_compaction_frees_what_it_hides_and_counts_only_its_own_text() -> None:
    counter = Noting()
    thread = thread_of(ChatCodec(), MessageAdded((Text("task"),)), counter=counter)
    hidden = [thread.append(MessageAdded((Text("word " * 2000),))).seq for _ in range(3)]
    thread.append(MessageAdded((Text("keep " * 1000),)))
    before = thread.tokens
    freed = sum(thread.item_tokens[1:4])
    counted = counter.characters
    thread.append(ContextCompacted("test", (Replacement(tuple(hidden), "They were words."),)))
    assert before - freed < thread.tokens < before - freed + 20
    assert counter.characters - counted < 100


def report(calibration: Calibration, counted: int, reported: int, seq: int = 10) -> None:
    calibration.add(Entry(seq, "t", 0.0, RequestSent(0, 1, "", 1, "", 0, counted)))
    usage = Usage(reported, 1)
    calibration.add(Entry(seq + 1, "t", 0.0, ReplyReceived((), "stop", usage, "m", {}, seq)))


@given(st.integers(-(10**9), 10**12))
def test_case_45_one_bogus_report_moves_the_estimate_by_a_tenth_at_most(reported: int) -> None:
    calibration = Calibration()
    report(calibration, 10_000, reported)
    assert 0.9 <= calibration.ratio <= 1.1
    for _ in range(100):
        report(calibration, 10_000, reported)
    assert 0.5 <= calibration.ratio <= 2.0


def test_good_reports_bring_the_count_to_the_truth() -> None:
    calibration = Calibration()
    for _ in range(5):
        report(calibration, 10_000, 13_000)
    assert calibration.correct(10_000) == 13_000
    calibration.add(Entry(1, "t", 0.0, config(ChatCodec(), model="another")))
    assert calibration.ratio == 1.0


def test_case_46_a_report_counts_for_the_request_it_answers_and_for_no_other() -> None:
    calibration = Calibration()
    usage = Usage(90_000, 1)
    calibration.add(Entry(2, "t", 0.0, RequestSent(0, 1, "", 1, "", 0, 10_000)))
    calibration.add(Entry(3, "t", 0.0, ReplyReceived((), "stop", usage, "m", {}, 1)))
    assert calibration.ratio == 1.0
    report(calibration, 100, 200)
    assert calibration.reports == 0, "the fixed part of a small request is no ratio"


async def test_a_thread_read_back_from_its_log_counts_the_same() -> None:
    codec = ChatCodec()
    thread = thread_of(codec, MessageAdded((Text("word " * 3000),)))
    sent = thread.request("<tail>\n</tail>")
    thread.append(ReplyReceived((Text("ok"),), "stop", Usage(5000, 5), "m", {}, sent.seq))
    again = Thread.of(MemoryEventLog(), "t", await thread.log.read("t"))
    again.counter = EstimateCounter()
    again.configure(config(codec), codec)
    assert again.tokens == thread.tokens
    assert again.calibration.ratio == thread.calibration.ratio != 1.0
