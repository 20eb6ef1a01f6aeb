"""How well the folder corpus finds what answers, on public question sets and in seven languages.

    python benchmarks/research.py [SECTION ...]      sections: recall gate sentences hops languages dossier

Every set is written as files into a temporary folder and read by the real `FolderCorpus`. The sets are
found through `UNDRIFT_TEST_DATA` (default: `../shared/data` beside the project); a figure under its aim
makes the exit code 1.
"""

import asyncio
import json
import os
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from coverage import coverage

from filesystem import FolderCorpus, pick_sentences
from undrift import ResearchOptions, research

DATA = Path(
    os.environ.get("UNDRIFT_TEST_DATA")
    or Path(__file__).resolve().parent.parent.parent / "shared" / "data"
)
RECALL_AIMS = {"musique-100": 58, "hotpotqa-100": 89, "clapnq-dev": 98, "claude-docs-qa": 85}


@dataclass(frozen=True)
class Question:
    """One question with what answers it."""

    text: str
    supporting: frozenset[str]
    answerable: bool
    raw: dict


@dataclass
class Set:
    """One question set, its corpus opened."""

    questions: list[Question]
    corpus: FolderCorpus
    sentences: dict[str, list[str]]

    async def found(self, query: str, limit: int) -> list[str]:
        """Give the document ids of the best hits, in order."""
        result = await self.corpus.search(query, limit)
        return [Path(hit.passage.source).stem for hit in result.hits]


class Figures:
    """Prints figures beside their aims and remembers what was missed."""

    def __init__(self) -> None:
        self.missed = 0

    def show(self, name: str, value: float, aim: float | None = None) -> None:
        """Print one figure; `aim` is the least it should be."""
        verdict = "" if aim is None else f"   aim >= {aim:g}   {'ok' if value >= aim else 'MISSED'}"
        self.missed += aim is not None and value < aim
        print(f"{name:<66}{value:6.1f}{verdict}")


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def supporting_of(raw: dict) -> frozenset[str]:
    if "passage" in raw:
        return frozenset({raw["passage"]})
    return frozenset(each if isinstance(each, str) else each[0] for each in raw["supporting"])


async def open_set(name: str, folder: Path) -> Set:
    """Write a set's paragraphs as files, one each, and open them as a corpus."""
    ids: dict[str, str] = {}
    sentences: dict[str, list[str]] = {}
    docs = folder / name
    docs.mkdir()
    for number, raw in enumerate(read_lines(DATA / "research" / name / "corpus.jsonl")):
        ids[raw["id"]] = stem = f"d{number:05}"
        sentences[stem] = [each.strip() for each in raw.get("sentences", ())]
        text = raw.get("text") or " ".join(sentences[stem])
        (docs / f"{stem}.md").write_text(f"# {raw['title']}\n\n{text}\n", encoding="utf-8")
    questions = [
        Question(
            raw["question"],
            frozenset(ids[each] for each in supporting_of(raw)),
            raw.get("answerable", True),
            raw,
        )
        for raw in read_lines(DATA / "research" / name / "questions.jsonl")
    ]
    return Set(questions, await FolderCorpus.open([docs], folder / f"{name}.db"), sentences)


async def recall(sets: dict[str, Set], figures: Figures) -> None:
    """Share of the supporting documents among the best 10 hits, one query per question."""
    for name, each in sets.items():
        answerable = [question for question in each.questions if question.answerable]
        total = 0.0
        for question in answerable:
            hits = set(await each.found(question.text, 10))
            total += len(hits & question.supporting) / len(question.supporting)
        figures.show(f"{name}: recall@10, %", 100 * total / len(answerable), RECALL_AIMS[name])


async def gate(sets: dict[str, Set], figures: Figures) -> None:
    """How often the gate is right: own questions kept, foreign and unanswerable ones turned away."""
    clap = sets["clapnq-dev"]
    answerable = [each.text for each in clap.questions if each.answerable]
    for name, each in sets.items():
        texts = [question.text for question in each.questions if question.answerable]
        figures.show(f"{name}: own questions confident, %", await confident(each, texts))
    unanswerable = [each.text for each in clap.questions if not each.answerable]
    kept = await confident(clap, unanswerable)
    figures.show("clapnq-dev: unanswerable, right subject, turned away, %", 100 - kept)
    turned, asked = 0.0, 0
    for each in sets.values():
        if each is clap:
            continue
        own = [question.text for question in each.questions]
        for texts, corpus in ((answerable, each), (own, clap)):
            turned += len(texts) * (100 - await confident(corpus, texts)) / 100
            asked += len(texts)
    figures.show(f"{asked} questions put to a foreign corpus, turned away, %", 100 * turned / asked)


async def confident(each: Set, texts: Sequence[str]) -> float:
    results = [await each.corpus.search(text, 10) for text in texts]
    return 100 * sum(result.confident for result in results) / len(texts)


async def sentences(sets: dict[str, Set], figures: Figures) -> None:
    """F1 of three sentences picked from the right passage against those people answered from."""
    for how, between, aim in (("given", "\n\n", 58), ("found by us", " ", None)):
        scores = list(sentence_scores(sets["clapnq-dev"], between))
        figures.show(
            f"clapnq-dev: sentence F1, k=3, boundaries {how}, %",
            100 * sum(scores) / len(scores),
            aim,
        )


def sentence_scores(clap: Set, between: str) -> Iterator[float]:
    for question in clap.questions:
        gold = set(question.raw["selected"])
        if not question.answerable or not gold:
            continue
        (stem,) = question.supporting
        lines = clap.sentences[stem]
        ends = list(accumulate(len(line) + len(between) for line in lines))
        picks = pick_sentences(question.text, [between.join(lines)], 3)
        picked = {bisect_right(ends, pick.start) for pick in picks}
        yield 2 * len(picked & gold) / (len(picked) + len(gold))


async def hops(sets: dict[str, Set], figures: Figures) -> None:
    """Support recall when the gold sub-questions are asked in order, 5 documents each."""
    musique = sets["musique-100"]
    total, complete = 0.0, 0
    for question in musique.questions:
        steps = question.raw["decomposition"]
        found: set[str] = set()
        for step in steps:
            query = step["question"]
            for number, earlier in enumerate(steps, 1):
                query = query.replace(f"#{number}", earlier["answer"])
            found |= set(await musique.found(query, 5))
        total += len(found & question.supporting) / len(question.supporting)
        complete += question.supporting <= found
    count = len(musique.questions)
    figures.show(
        "musique-100: gold sub-questions in order, support recall, %", 100 * total / count, 90
    )
    figures.show("musique-100: questions with all supports, of 100", complete)


# Short texts about ordinary things, written for this benchmark; the words searched for are other
# forms of words in them.
TEXTS = {
    "zh-bridge.txt": "长江大桥于一九五七年建成通车，是中国第一座跨越长江的公路铁路两用桥。",
    "zh-tea.txt": "龙井茶产于浙江杭州西湖一带，以清明节前采摘的嫩叶制成，味道清香。",
    "ja-tower.txt": "東京タワーは一九五八年に完成した電波塔で、高さは三百三十三メートルである。",
    "ja-train.txt": "新幹線は時速三百キロで走行し、東京と大阪をおよそ二時間半で結んでいる。",
    "th-market.txt": "ตลาดน้ำดำเนินสะดวกเป็นแหล่งท่องเที่ยวที่มีชื่อเสียง นักท่องเที่ยวนั่งเรือซื้อผลไม้สด",
    "th-school.txt": "โรงเรียนเปิดภาคเรียนในเดือนพฤษภาคม นักเรียนทุกคนต้องสวมเครื่องแบบ",
    "de-contract.txt": (
        "Die Verträge mit den Lieferanten wurden im März verlängert. Alle Häuser in der Straße\n"
        "werden nun mit Fernwärme versorgt, und die Kosten sind für die Mieter nicht gestiegen."
    ),
    "de-garden.txt": (
        "Im Garten stehen alte Apfelbäume, und im Herbst wird der Saft von den Nachbarn gepresst."
    ),
    "ar-school.txt": "افتتحت المدرسةُ الجديدةُ أبوابها في الخريف، ويدرس الطلابُ فيها العلوم واللغات.",
    "ar-water.txt": "تعتمد المدينة على محطة لتحلية مياه البحر توفر مياه الشرب للسكان.",
    "vi-coffee.txt": "Cà phê được trồng nhiều ở Tây Nguyên và là mặt hàng xuất khẩu quan trọng.",
    "vi-contract.txt": "Hợp đồng lao động phải được ký trước khi người lao động bắt đầu làm việc.",
    "ru-library.txt": "В городе открыли новую библиотеку, где хранятся старинные книги и рукописи.",
    "ru-contract.txt": "Стороны подписали договор о поставках оборудования на пять лет.",
}
WORDS = (
    ("长江大桥", "zh-bridge"),
    ("龙井", "zh-tea"),
    ("東京タワー", "ja-tower"),
    ("ﾀﾜｰの高さ", "ja-tower"),
    ("นักท่องเที่ยว", "th-market"),
    ("เครื่องแบบ", "th-school"),
    ("Vertrag", "de-contract"),
    ("Haus", "de-contract"),
    ("مدرسة", "ar-school"),
    ("الطُّلَّاب", "ar-school"),
    ("hop dong", "vi-contract"),
    ("книгами", "ru-library"),
)


async def languages(sets: dict[str, Set], figures: Figures) -> None:
    """How many of 12 words in seven languages find their text first, in other forms than written."""
    del sets
    with tempfile.TemporaryDirectory() as name:
        docs = Path(name, "docs")
        docs.mkdir()
        for file, text in TEXTS.items():
            (docs / file).write_text(text, encoding="utf-8")
        corpus = await FolderCorpus.open([docs], Path(name, "index.db"))
        right = 0
        for word, stem in WORDS:
            hits = (await corpus.search(word)).hits
            first = Path(hits[0].passage.source).stem if hits else "nothing"
            right += first == stem
            if first != stem:
                print(f"  {word!r} should find {stem}, found {first}")
        await corpus.close()
    figures.show("test words found in seven languages, of 12", right, 11)


async def dossier(_: dict[str, Set], figures: Figures) -> None:
    """A whole research run over a company's documents: values covered, words, outdated values."""
    folder = DATA / "research" / "veltrix-dossier"
    question = json.loads((folder / "task.json").read_text(encoding="utf-8"))["question"]
    with tempfile.TemporaryDirectory() as runs:
        result = await research(question, [folder / "docs"], ResearchOptions(runs=Path(runs)))
    share, missing, stale = coverage(result.text, read_lines(folder / "checkpoints.jsonl"))
    figures.show("dossier: values of the checkpoints in the report, %", 100 * share, 50)
    figures.show("dossier: words under 850", 850 - len(result.text.split()), 0)
    figures.show("dossier: outdated values, negative", -len(stale), 0)
    print(f"  missing: {', '.join(missing) or 'none'}; status {result.status}")


SECTIONS: dict[str, Callable[[dict[str, Set], Figures], Awaitable[None]]] = {
    "recall": recall,
    "gate": gate,
    "sentences": sentences,
    "hops": hops,
    "languages": languages,
    "dossier": dossier,
}


async def main(wanted: Sequence[str]) -> int:
    """Run the sections asked for, all by default; 1 when a figure misses its aim, 2 for no data."""
    figures = Figures()
    chosen = [SECTIONS[name] for name in (wanted or SECTIONS)]
    sets: dict[str, Set] = {}
    with tempfile.TemporaryDirectory() as folder:
        if not set(chosen) <= {languages, dossier}:
            if not (DATA / "research").is_dir():
                print(f"no question sets at {str(DATA)!r}: set UNDRIFT_TEST_DATA to their folder")
                return 2
            for name in RECALL_AIMS:
                sets[name] = await open_set(name, Path(folder))
        for section in chosen:
            await section(sets, figures)
        for each in sets.values():
            await each.corpus.close()
    return 1 if figures.missed else 0


if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(SECTIONS)
    if unknown:
        sys.exit(f"unknown section {sorted(unknown)}: choose from {', '.join(SECTIONS)}")
    sys.exit(asyncio.run(main(sys.argv[1:])))
