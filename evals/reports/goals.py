"""The terminal's account of one finished run against its goal."""

from ..goals.scoring import GoalScore
from .files import say


def print_goal(score: GoalScore) -> None:
    """What contradicts success, and what code could not check."""
    verdict = "nothing contradicts success" if score.passed else "failed"
    say(f"{score.run_id}: {verdict} ({score.status}; {score.compactions} compactions)")
    say(f"  goal: {score.goal[:160]}")
    done = sum(step.state == "done" for step in score.steps)
    say(f"  steps: {done} of {len(score.steps)} done; calls: {len(score.calls)}")
    for rule in score.constraints:
        say(f"  constraint {rule.verdict}: {rule.text!r}" + (f" ({rule.why})" if rule.why else ""))
    for finding in score.findings:
        where = f" (event {finding.seq})" if finding.seq else ""
        say(f"  {finding.kind}: {finding.detail}{where}")
