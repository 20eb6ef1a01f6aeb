"""The extractive model: what it plans, quotes and writes, over real documents and hostile requests."""

import json
from runpy import run_path

import pytest

from agents import Agent, Conclusion, Limits, Meter, Model, Run, open_session
from agents.models.extractive import ExtractiveModel
from agents.models.extractive_plan import plan_for, split_question, title_of
from filesystem import FolderCorpus
from memory import MemoryEventLog
from orchestrator.researching.search_tools import search_tools
from orchestrator.researching.shapes import Draft, Gaps, Plan
from undrift import Coordinator, ResearchOptions, research, tool

DOCUMENTS = {
    "pump.md": (
        "# Aurora pump\n\n## Price\n\n| Model | Price | Weight |\n|---|---|---|\n"
        "| Aurora 2 | 4,200 EUR | 31 kg |\n| Aurora 3 | 5,900 EUR | 38 kg |\n\n"
        "The Aurora pump is made in Lyon. It is sold to breweries.\n\n"
        "## Service\n\n- An Aurora pump is serviced every 900 hours.\n- Service takes two hours.\n"
    ),
    "archive/pump_2019.md": (
        "# Aurora pump 2019\n\nThe Aurora pump cost 3,100 EUR and was serviced every 400 hours.\n"
        "The Aurora warranty was limited to 12 months.\n"
    ),
    "canteen.md": "# Canteen\n\nLunch is served from noon. The soup of Friday is lentil soup.\n",
}


@pytest.fixture
async def corpus(tmp_path):
    for name, text in DOCUMENTS.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    opened = await FolderCorpus.open([tmp_path / "docs"], tmp_path / "index.db")
    yield opened
    await opened.close()


async def outcome_of(task, output=None, tools=(), model=None):
    agent = Agent("a", "Work.", tools=tools, output_type=output)
    run = Run("r", MemoryEventLog(), Meter(Limits()))
    models = [model or ExtractiveModel()]
    session = await open_session(run, agent, task, thread="main", models=models)
    return await agent.run(session)


async def output_of(task, output, tools=()):
    outcome = await outcome_of(task, output, tools)
    assert outcome.output is not None, outcome.reason
    return output.model_validate(outcome.output)


def request(*messages, tools=()):
    return json.dumps({"model": "extractive", "tools": list(tools), "messages": messages}).encode()


def test_it_is_a_model():
    assert isinstance(ExtractiveModel(), Model)


# --- planning


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is a pump?", ["What is a pump?"]),
        (
            "Write a brief on Aurora S.A.: price and weight; service, spare parts; rivals. "
            "Be specific about numbers and cite the documents.",
            [
                "Aurora S.A.: price and weight",
                "Aurora S.A.: service, spare parts",
                "Aurora S.A.: rivals",
            ],
        ),
        (
            "When was Aurora founded? Who leads it?",
            ["When was Aurora founded?", "Aurora: Who leads it?"],
        ),
        (
            "Compare Aurora and Boreas:\n- price\n- weight of Aurora\nUse a table.",
            ["Aurora and Boreas: price", "weight of Aurora"],
        ),
        ("1. Who built it?\n2) Where?", ["Who built it?", "Where?"]),
        (
            "How does Aurora cool its motor and what happens when the pump runs dry?",
            ["How does Aurora cool its motor?", "Aurora: what happens when the pump runs dry?"],
        ),
        (
            "Explain the service of Aurora, its cost, and how to book it.",
            ["Explain the service of Aurora", "Aurora: its cost", "Aurora: how to book it"],
        ),
        (
            "请写一份关于华为的报告：财务状况；产品线。请引用文件。",
            ["华为: 财务状况", "华为: 产品线"],
        ),
        (
            "Undriftとは何ですか？その仕組みは？",
            ["Undriftとは何ですか？", "Undrift: その仕組みは？"],
        ),
        # One question with a relative clause, a quotation or a context stays one.
        ("Who is the singer, who was born in 1950?", ["Who is the singer, who was born in 1950?"]),
        ('Who wrote "War; Peace" and "1984"?', ['Who wrote "War; Peace" and "1984"?']),
        (
            "Aurora makes pumps. What do they weigh?",
            ["Aurora makes pumps. What do they weigh?"],
        ),
    ],
)
def test_the_explicit_parts_of_a_question_are_planned(question, parts):
    assert split_question(question) == parts


def test_a_plan_has_one_to_eight_questions_and_a_short_title():
    listed = "\n".join(f"- part number {number}" for number in range(40))
    for question in (f"Describe Aurora:\n{listed}", "?", "; ; ;", "x" * 100_000, "a: " * 9_000):
        plan = Plan.model_validate(plan_for(question))
        assert 1 <= len(plan.questions) <= 8
        assert len(plan.title) <= 130
    everything = " ".join(
        q["question"] for q in plan_for(f"Describe Aurora:\n{listed}")["questions"]
    )
    assert all(f"number {number}" in everything for number in range(40))


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What is the price\nof Aurora?", "What is the price of Aurora"),
        ("Report on Aurora:\n- price\n- service", "Report on Aurora"),
        ("- price of Aurora\n- service", "Price of Aurora"),
        ("Aurora\n\nWhat does it cost?", "Aurora"),
    ],
)
def test_a_title_is_not_cut_at_a_line_end(question, title):
    assert title_of(question) == title


async def test_the_planner_goes_through_the_loop():
    plan = await output_of("Write a brief on Aurora: price; service.", Plan)
    assert [q.question for q in plan.questions] == ["Aurora: price", "Aurora: service"]
    assert plan.title == "Brief on Aurora"


# --- researching


async def test_a_researcher_searches_and_quotes_verbatim(corpus):
    conclusion = await output_of("What does an Aurora pump cost?", Conclusion, search_tools(corpus))
    assert conclusion.status == "done"
    cited = {c.quote: c.evidence for f in conclusion.findings for c in f.citations}
    for quote, evidence in cited.items():
        passage = await corpus.passage(evidence)
        assert quote in passage.text
    assert "Aurora 2 | 4,200 EUR | 31 kg" in cited
    assert not any("Model | Price" in quote or quote.startswith("#") for quote in cited)
    assert conclusion.answer


BLOCKS = """The Aurora pump costs 4,200 EUR in every shop.

```python
price = pump_price("Aurora", currency="EUR")

The Aurora pump costs 1 EUR in every test.
```

The Aurora pump costs
=====================
With a hose it costs 4,500 EUR in every shop.

| Aurora pump | costs in EUR |
|:------------|-------------:|
| Aurora pump 9 | 9,000 EUR in shops |

<!-- The Aurora pump costs 2 EUR in the draft.

The Aurora pump costs 3 EUR in the plan. -->

~~~
The Aurora pump costs 5 EUR in the log."""


async def test_code_comments_and_rules_are_never_quoted():
    @tool
    def search(query: str, limit: int = 8) -> dict:
        """Find passages."""
        passage = {"evidence": "e1", "text": BLOCKS}
        return {"query": query, "confident": True, "passages": [passage]}

    found = await output_of("What does an Aurora pump cost?", Conclusion, [search])
    assert sorted(finding.claim for finding in found.findings) == [
        "Aurora pump 9 | 9,000 EUR in shops",
        "The Aurora pump costs 4,200 EUR in every shop.",
        "With a hose it costs 4,500 EUR in every shop.",
    ]


async def test_what_only_archived_documents_say_is_marked_as_outdated(corpus):
    current = await output_of("How often is an Aurora serviced?", Conclusion, search_tools(corpus))
    assert any("900 hours" in finding.claim for finding in current.findings)
    assert not any("400 hours" in finding.claim for finding in current.findings)


async def test_archived_passages_alone_make_a_partial_answer():
    passage = {
        "evidence": "e1",
        "status": "archived",
        "text": "The old warranty was 12 months.",
    }

    @tool
    def search(query: str, limit: int = 8) -> dict:
        """Find passages."""
        return {"query": query, "confident": True, "passages": [passage]}

    conclusion = await output_of("How long is the warranty?", Conclusion, [search])
    assert conclusion.status == "partial"
    assert [finding.confidence for finding in conclusion.findings] == ["low"]
    assert "outdated" in conclusion.open_questions[0]


async def test_nothing_found_is_said(corpus):
    question = "Which cryptocurrency does the treasury hold?"
    conclusion = await output_of(question, Conclusion, search_tools(corpus))
    assert conclusion.status == "partial"
    assert conclusion.findings == []
    assert conclusion.answer.startswith("Nothing found in the documents about")
    assert conclusion.open_questions == [question]


async def test_a_failing_search_ends_in_an_honest_conclusion():
    @tool
    def search(query: str, limit: int = 8) -> dict:
        """Find passages."""
        raise RuntimeError("the index is gone")

    conclusion = await output_of("What is it?", Conclusion, [search])
    assert conclusion.status == "partial"
    assert "the index is gone" in conclusion.answer


@pytest.mark.parametrize("result", ["", "no JSON", "[]", "null", '{"confident": true}'])
async def test_a_result_of_another_shape_is_no_passage(result):
    @tool
    def search(query: str, limit: int = 8) -> str:
        """Find passages."""
        return result

    conclusion = await output_of("What is it?", Conclusion, [search])
    assert conclusion.findings == []


async def test_only_the_first_paragraph_is_the_question_and_each_thing_is_searched():
    asked: list[str] = []

    @tool
    def search(query: str, limit: int = 8) -> dict:
        """Find passages."""
        asked.append(query)
        return {"query": query, "confident": False, "passages": []}

    task = "Aurora: price, weight and rivals\n\nKnown from earlier questions:\n- Aurora is a pump"
    await output_of(task, Conclusion, [search])
    assert sorted(asked) == [
        "Aurora price",
        "Aurora rivals",
        "Aurora weight",
        "Aurora: price, weight and rivals",
    ]


async def test_the_same_bytes_give_the_same_reply_and_tails_and_repairs_are_no_task():
    function = {"name": "conclude", "parameters": {"title": "Plan"}}
    body = request(
        {"role": "system", "content": "Plan."},
        {"role": "user", "content": [{"type": "text", "text": "What is Aurora?"}]},
        {"role": "user", "content": "Nothing was handed back. Call the tool 'conclude' now."},
        {"role": "user", "content": "<tail>Goal: something else?</tail>"},
        tools=[{"type": "function", "function": function}],
    )
    first, second = [await ExtractiveModel().send(body) for _ in range(2)]
    assert first == second
    assert json.loads(first.calls[0].arguments)["questions"][0]["question"] == "What is Aurora?"


async def test_a_body_that_is_no_chat_completion_is_refused():
    with pytest.raises(ValueError, match="list of messages"):
        await ExtractiveModel().send(b'{"input": "x"}')


# --- reviewing and writing


def answered(findings, question="Aurora: price of the pump"):
    row = {
        "id": "q1",
        "question": question,
        "status": "partial",
        "answer": "",
        "findings": findings,
    }
    return {"question": "Aurora?", "round": 1, "answered": [row]}


async def test_a_question_without_a_finding_is_asked_once_more_in_broader_words():
    gaps = await output_of(json.dumps(answered(0)), Gaps)
    assert [q.question for q in gaps.questions] == ["price pump"]
    assert (await output_of(json.dumps(answered(2)), Gaps)).questions == []
    assert (await output_of(json.dumps(answered(0) | {"round": 2}), Gaps)).questions == []
    assert (await output_of("no JSON", Gaps)).questions == []
    assert (await output_of(json.dumps(answered(0, "price pump")), Gaps)).questions == []


def section(number, claims):
    findings = [
        {"claim": claim, "citations": [{"evidence": f"e{number}", "quote": claim}]}
        for claim in claims
    ]
    return {
        "id": f"q{number}",
        "question": "Q",
        "status": "done",
        "answer": "",
        "findings": findings,
    }


def draft_task(*sections):
    return json.dumps({"question": "How much?", "title": "T", "sections": sections})


async def test_a_brief_says_each_thing_once_and_keeps_the_order_of_sections():
    same = "The pump weighs 31 kg and costs 4,200 EUR."
    task = draft_task(
        section(1, [same, "It is made in Lyon."]), section(2, [same, "Rivals exist."])
    )
    draft = await output_of(task, Draft)
    assert [part.question for part in draft.sections] == ["q1", "q2"]
    texts = [sentence.text for part in draft.sections for sentence in part.sentences]
    assert sorted(texts) == sorted([same, "It is made in Lyon.", "Rivals exist."])
    assert draft.sections[1].sentences[0].evidence == ["e2"]


async def test_a_brief_stays_within_its_words_and_is_fair_to_every_section():
    sections = [
        section(
            number,
            [f"Part {number} item {item} has {item} of {'many words ' * 10}" for item in range(30)],
        )
        for number in range(1, 6)
    ]
    draft = await output_of(draft_task(*sections), Draft)
    words = [sum(len(s.text.split()) for s in part.sentences) for part in draft.sections]
    assert sum(words) <= 600
    assert min(words) >= 90


async def test_a_brief_of_nothing_is_empty():
    draft = await output_of(draft_task(section(1, [])), Draft)
    assert [part.sentences for part in draft.sections] == [[]]
    assert (await output_of("no JSON", Draft)).sections == []


# --- words


async def test_without_an_output_it_answers_in_quotes(corpus):
    outcome = await outcome_of("How often is an Aurora pump serviced?", None, search_tools(corpus))
    assert "An Aurora pump is serviced every 900 hours. [e" in outcome.text


async def test_it_quotes_from_the_task_itself():
    text = "Aurora was founded in 1987. It makes pumps. Its soup is good. When was Aurora founded?"
    outcome = await outcome_of(text)
    assert outcome.text.splitlines()[0] == "- Aurora was founded in 1987."
    assert "I can only quote" in (await outcome_of("Who are you?")).text


async def test_a_coordinator_delegates_each_part_and_answers_from_the_conclusions(corpus):
    researcher = Agent(
        "researcher",
        "Search.",
        tools=search_tools(corpus),
        output_type=Conclusion,
        model=ExtractiveModel(),
    )
    lead = Agent("lead", "Delegate.", model=ExtractiveModel())
    result = await Coordinator(lead, subagents=[researcher]).run(
        "Where is the Aurora pump made? How often is the Aurora pump serviced?"
    )
    assert "Lyon" in result.text
    assert "900 hours" in result.text


# --- the whole of it


async def test_a_dossier_is_covered_in_850_words_without_a_stale_value(
    test_data, tmp_path, project
):
    coverage = run_path(str(project / "benchmarks" / "coverage.py"))["coverage"]
    folder = test_data / "research" / "veltrix-dossier"
    question = json.loads((folder / "task.json").read_text(encoding="utf-8"))["question"]
    lines = (folder / "checkpoints.jsonl").read_text(encoding="utf-8").splitlines()
    result = await research(question, [folder / "docs"], ResearchOptions(runs=tmp_path / "runs"))
    share, missing, stale = coverage(result.text, [json.loads(line) for line in lines])
    assert len(result.text.split()) <= 850
    assert stale == []
    assert share >= 0.6, missing


@pytest.mark.parametrize(
    ("report", "value", "stated"),
    [
        ("raised USD 142 million", "142M", True),
        ("at −30 °C", "-30", True),
        ("48500 EUR", "48,500", True),
        ("67 percent", "67%", True),
        ("firmware v4.7.2", "4.7.2", True),
        ("14 sites", "14", True),
        ("214, 1.14, 14.2, 14%, $14M", "14", False),
        ("see lines 14-20 [14]", "14", False),
        ("a cold chamber", "cold-chamber", True),
    ],
)
def test_coverage_knows_the_ways_to_write_a_value(project, report, value, stated):
    coverage = run_path(str(project / "benchmarks" / "coverage.py"))["coverage"]
    share, missing, _ = coverage(report, [{"id": "x", "values": [value]}])
    assert (share, missing) == ((1.0, []) if stated else (0.0, [f"x: {value}"]))
