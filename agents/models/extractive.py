"""`ExtractiveModel`: no network and no weights; it plans, searches and quotes by rules.

It sees what any model sees, the bytes of a request, and decides by what is on offer there: the output
that `conclude` takes, and the tools. So it goes through the same loop, tools and graph as the others.
"""

from dataclasses import dataclass, field

from memory import Block, Codec, JsonObject

from .base import Delta, Reply, Sink
from .chat_codec import ChatCodec
from .extractive_answer import answer_in_words, delegated_conclusion, delegation
from .extractive_draft import draft_for
from .extractive_plan import plan_for, search_parts
from .extractive_quotes import Quote, choose_quotes, passages_in
from .extractive_request import Turn, objects, parsed, read_turn
from .extractive_subject import broader
from .scripted import call, reply_of

_SEARCH, _DELEGATE = "search", "delegate"
_HITS = 12  # passages of one search; sentences are chosen from all of them
_FINDINGS = 18
_FINDINGS_BYTES = 6_000  # of all quotes, claim and quote together: a conclusion holds 2,000 tokens
_HIGH, _MEDIUM = 3, 7  # places up to which a finding's confidence is high, then medium
_ANSWER_WORDS = 60


@dataclass
class ExtractiveModel:
    """Plans from the explicit parts of a question, searches, and concludes with verbatim quotes.

    A pure function of the request: the same bytes give the same reply. Nothing leaves the process.
    """

    name: str = "extractive"
    window: int | None = 128_000
    """Tokens; nothing in the model depends on it."""
    settings: JsonObject = field(default_factory=lambda: {"model": "extractive"})
    codec: Codec = field(default_factory=ChatCodec)

    async def send(self, body: bytes, sink: Sink | None = None) -> Reply:
        """Decide on one request. Raises `ValueError` for a body that is no chat completion."""
        reply = reply_of(decide(read_turn(body)), len(body), self.name)
        if sink is not None and reply.text:
            sink(Delta("text", reply.text))
        return reply

    async def close(self) -> None:
        """Nothing to release."""


def decide(turn: Turn) -> Block | list[Block]:
    """The reply to one request."""
    match turn.shape:
        case "Plan":
            return call("conclude", **plan_for(turn.task))
        case "Conclusion":
            return _begin(turn) or _conclusion(turn)
        case "Gaps":
            return call("conclude", questions=_gaps(turn.task))
        case "Draft":
            return call("conclude", **draft_for(turn.task))
        case _:
            return _begin(turn) or answer_in_words(turn)


def _begin(turn: Turn) -> list[Block]:
    """The delegation or the searches to begin with; none without the tools, or once anything came back."""
    if turn.results:
        return []
    if _DELEGATE in turn.tools:
        return [delegation(turn)]
    if _SEARCH not in turn.tools:
        return []
    return [call(_SEARCH, query=query, limit=_HITS) for query in search_parts(_question(turn))]


def _question(turn: Turn) -> str:
    """The task's first paragraph; what follows is what is known already."""
    return turn.task.strip().split("\n\n", 1)[0]


def _conclusion(turn: Turn) -> Block:
    if delegated := turn.answers(_DELEGATE):
        return delegated_conclusion(delegated)
    question = _question(turn)
    quotes = _within(choose_quotes(question, passages_in(turn.answers(_SEARCH)), _FINDINGS))
    if not quotes:
        return _nothing_found(turn, question)
    outdated = [] if quotes[0].current else [f"Only outdated documents answer: {question}"]
    return call(
        "conclude",
        answer=_answer(quotes),
        findings=[
            {
                "claim": quote.tidy,
                "citations": [{"evidence": quote.evidence, "quote": quote.text}],
                "confidence": _confidence(place, quote),
            }
            for place, quote in enumerate(quotes)
        ],
        open_questions=outdated,
        status="partial" if outdated else "done",
    )


def _nothing_found(turn: Turn, question: str) -> Block:
    failed = [result.text for result in turn.results if result.failed]
    reason = f" A search failed: {failed[0]}" if failed else ""
    about = question.rstrip("?？؟. ")
    return call(
        "conclude",
        answer=f"Nothing found in the documents about: {about}.{reason}",
        open_questions=[question],
        status="partial",
    )


def _within(quotes: list[Quote]) -> list[Quote]:
    """The quotes, best first, that a conclusion has room for; the first one always."""
    room = _FINDINGS_BYTES
    kept: list[Quote] = []
    for quote in quotes:
        size = 2 * len(quote.text.encode()) + 100
        if not kept or size <= room:
            kept.append(quote)
            room -= size
    return kept


def _answer(quotes: list[Quote]) -> str:
    """The best quote, and the second one when both are short."""
    first, *others = quotes[:2]
    both = " ".join([first.tidy, *(quote.tidy for quote in others)])
    return both if len(both.split()) <= _ANSWER_WORDS else first.tidy


def _confidence(place: int, quote: Quote) -> str:
    if not quote.current:
        return "low"
    return "high" if place < _HIGH else "medium" if place < _MEDIUM else "low"


def _gaps(task: str) -> list[JsonObject]:
    """Questions without a finding, once more in broader words, after the first round only."""
    data = parsed(task)
    if not isinstance(data, dict) or data.get("round") != 1:
        return []
    asked = [
        (str(row.get("question", "")), row.get("findings")) for row in objects(data, "answered")
    ]
    known = {question for question, _ in asked}
    again = [broader(question) for question, findings in asked if not findings]
    new = [question for question in dict.fromkeys(again) if question and question not in known]
    return [
        {"id": f"q{number}", "question": question, "depends_on": []}
        for number, question in enumerate(new[:8], 1)
    ]
