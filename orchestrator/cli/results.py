"""What came of a run, on standard output: a report's path and facts, an answer, or one JSON object."""

import json
import time

from ..result import RunResult
from .screen import clean, put, say


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
    return result.exit_code


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
        "reason": result.reason,
        "folder": str(folder) if folder else None,
        "report": str(report) if report else None,
        "text": result.text,
        "output": result.output,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
        },
        "seconds": round(seconds, 3),
    }
