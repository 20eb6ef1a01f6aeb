"""The report as Markdown: what people read, and what `verify_report` can read back.

Every sentence, citation and gap is one line. Text that models or documents wrote is escaped, so that
only code makes headings, citation numbers and marks. Emphasis and inline code in it are not shown.
"""

from collections.abc import Iterator, Sequence

from .markup import escape, quoted, unmarked
from .report import Report
from .report_parts import (
    ConflictSide,
    Gap,
    NotRead,
    ReportCitation,
    ReportSection,
    ReportSentence,
)

CONFLICTS, GAPS, CITATIONS, SOURCES, USAGE = "Conflicts", "Gaps", "Citations", "Sources", "Usage"
UNVERIFIED = "[unverified]"
"""Mark of a sentence or quote that no source was found to support."""
BAD_NUMBER = "[number not in evidence: {}]"
"""Mark of a sentence with a number that its evidence does not hold."""
BRIEF = "> Evidence brief made without a model: ranked, verbatim quotes."
"""First line of a report in extractive mode."""
_NAMED = 10  # files that were not read and are named
_BREAK = "  "  # two spaces end a line of Markdown without a blank line


def render_markdown(report: Report) -> str:
    """The report as Markdown, ending in a line feed."""
    lines = [f"# {escape(report.title)}", ""]
    if report.mode == "extractive":
        lines += [BRIEF, ""]
    if report.status != "done":
        lines += [f"Status: {report.status}{f', see {GAPS}' if report.gaps else ''}.", ""]
    if report.summary:
        lines += _section("Summary", report.summary, report)
    for number, section in enumerate(report.sections, 1):
        lines += _section(f"{number}. {escape(section.heading)}", section, report)
    lines += _block(CONFLICTS, [_conflict(each.sides, report) for each in report.conflicts])
    lines += _block(GAPS, [*(_gap(gap) for gap in report.gaps), *_not_read(report.not_read)])
    lines += _block(CITATIONS, [_citation(each, report) + _BREAK for each in report.citations])
    lines += _block(SOURCES, [escape(source) + _BREAK for source in report.sources])
    lines += _block(USAGE, [_usage(report)])
    lines += [f"<!-- evidence:{','.join(_ids(report))} -->"] if report.citations else []
    return "\n".join(lines).rstrip() + "\n"


def _section(heading: str, section: ReportSection, report: Report) -> list[str]:
    sentences = [_sentence(each) for each in section.sentences] or [f"Nothing found, see {GAPS}."]
    between = "\n\n" if report.mode == "extractive" else "\n"  # quotes stand apart, prose flows
    return [f"## {heading}", "", between.join(sentences), ""]


def _block(heading: str, lines: list[str]) -> list[str]:
    return [f"## {heading}", "", *lines, ""] if lines else []


def _sentence(sentence: ReportSentence) -> str:
    kinds = {mark.kind for mark in sentence.marks}
    parts = [escape(unmarked(sentence.text))]
    if sentence.citations:
        parts.append("".join(f"[{number}]" for number in sentence.citations))
    if kinds - {"number"}:
        parts.append(UNVERIFIED)
    if "number" in kinds:
        numbers = [escape(mark.detail) for mark in sentence.marks if mark.kind == "number"]
        parts.append(BAD_NUMBER.format(", ".join(numbers)))
    return " ".join(parts)


def _conflict(sides: tuple[ConflictSide, ConflictSide], report: Report) -> str:
    return "- " + " against ".join(_side(side, report) for side in sides)


def _side(side: ConflictSide, report: Report) -> str:
    """The value; the quote too where the sentences are not quotes themselves."""
    parts = [escape(side.value)]
    if report.mode == "model":
        parts = [f"{parts[0]}:", quoted(side.quote)]
    parts.append(f"[{side.citation}]")
    if side.status != "current":
        parts.append(f"({side.status})")
    return " ".join(parts)


def _gap(gap: Gap) -> str:
    said = {
        "failed": f"researcher {gap.id} failed ({gap.status})",
        "no_findings": f"researcher {gap.id} found nothing",
        "partial": f"researcher {gap.id} could answer only a part",
        "open_question": "still open",
        "problem": "problem",
    }[gap.kind]
    text = f"{said}: {escape(gap.text)}" if gap.text else said
    return f"- {escape(gap.question)} - {text}" if gap.question else f"- {text}"


def _not_read(files: Sequence[NotRead]) -> Iterator[str]:
    """One line for all files that could not be searched."""
    named = [f"{escape(each.source)} ({escape(each.reason)})" for each in files[:_NAMED]]
    if len(files) > _NAMED:
        named.append(f"and {len(files) - _NAMED} more, see report.json")
    if files:
        yield f"- not read: {'; '.join(named)}"


def _citation(citation: ReportCitation, report: Report) -> str:
    where = escape(citation.source).replace('"', '\\"')
    if citation.place:
        where = f"{where}, {escape(citation.place)}"
    if report.mode == "extractive":
        return f"[{citation.number}] {where}"
    quotes = "; ".join(
        quoted(each.text) + ("" if each.verified else f" {UNVERIFIED}") for each in citation.quotes
    )
    return f"[{citation.number}] {where}: {quotes}"


def _usage(report: Report) -> str:
    usage, checks = report.usage, report.checks
    models = ", ".join(escape(model) for model in usage.models) or report.mode
    parts = [
        f"{usage.input_tokens:,}+{usage.output_tokens:,} tokens",
        models,
        f"{usage.researchers} researchers",
        f"{checks.citations} citations",
        f"{checks.failed} failed checks",
        f"run {escape(report.run_id)}",
    ]
    return "; ".join(parts) + "."


def _ids(report: Report) -> Iterator[str]:
    """Evidence ids by number, so that a finished report can be checked against the same passages."""
    for citation in report.citations:
        if citation.evidence.isalnum() and citation.evidence.isascii():
            yield f"{citation.number}={citation.evidence}"
