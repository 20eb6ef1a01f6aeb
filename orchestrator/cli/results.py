"""What came of a run, on standard output: a report's path and facts, an answer, or one JSON object."""

import json
import shlex
import time

from memory import redact

from ..approvals import described
from ..result import RunResult
from .screen import clean, put, say, visible


def show_result(result: RunResult, *, as_json: bool, is_report: bool, began: float) -> int:
    """Print the result and return the exit code. `began` is `time.monotonic()` of the start.

    A report is shown by its path, any other result by its text.
    """
    seconds = time.monotonic() - began
    if as_json:
        put(json.dumps(_as_data(result, seconds)))  # ASCII, so that no text can steer a terminal
        return result.exit_code
    if is_report and result.folder is not None:
        put(clean(str(result.folder / "report.md")))
        put(_facts(result, seconds))
    else:
        answer = result.text or (json.dumps(result.output, indent=1) if result.output else "")
        if answer:
            put(clean(answer))
        say(_facts(result, seconds))
        say(f"run folder: {result.folder}")
    if result.reason and result.status != "done":
        say(f"{result.status}: {result.reason}")
    _show_waiting(result)
    return result.exit_code


def _show_waiting(result: RunResult) -> None:
    """The calls that wait for a person, with every character of what the model asks for visible."""
    for call in result.pending:
        crash = " (it was under way when the program stopped)" if call.reason == "crash" else ""
        say(visible(f"waiting: {call.key}  {call.tool} {call.arguments}{crash}"))
    if result.pending:
        run = shlex.quote(str(result.folder or result.run_id))
        say(f"decide: undrift resume {run} --approve CALL, --reject CALL or --edit CALL=JSON")


def _facts(result: RunResult, seconds: float) -> str:
    usage, citations = result.usage, result.output.get("citations")
    facts = [
        f"status {result.status}",
        f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens",
        f"{seconds:.1f} s",
    ]
    if isinstance(citations, list):
        found = sum(all(quote["verified"] for quote in each["quotes"]) for each in citations)
        facts.insert(0, f"{len(citations)} citations, {found} verified")
    return "; ".join(facts)


def _as_data(result: RunResult, seconds: float) -> dict[str, object]:
    usage, folder = result.usage, result.folder
    report = folder / "report.md" if folder and (folder / "report.md").is_file() else None
    return {
        "run": result.run_id,
        "status": result.status,
        "reason": redact(result.reason),
        "folder": str(folder) if folder else None,
        "report": str(report) if report else None,
        "text": result.text,
        "output": result.output,
        "waiting": described(result.pending),
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
        },
        "seconds": round(seconds, 3),
    }
