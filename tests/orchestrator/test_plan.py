"""The coordinator's plan: the run's `todo.md`, read by children and written by its own thread alone."""

from agents import Agent, Conclusion, ScriptedModel, call
from memory import loads, parse_todo, read_entries
from orchestrator import Coordinator


def tools_of(body):
    return [tool["function"]["name"] for tool in loads(body)["tools"]]


async def test_the_plan_is_the_runs_todo_md_and_children_read_it(tmp_path):
    helper = ScriptedModel([call("read_plan"), call("conclude", answer="seen")])
    lead = ScriptedModel(
        [
            call("rewrite_todo", goal="Ship it", steps=[{"text": "ask a helper"}]),
            call("delegate", tasks=[{"agent": "helper", "task": "look"}]),
            call("update_todo", changes=[{"step": 1, "state": "done"}]),
            "all done",
        ]
    )
    child = Agent("helper", "Help.", helper, output_type=Conclusion)
    coordinator = Coordinator(Agent("lead", "Lead.", lead, todo=True), [child], runs=tmp_path)
    result = await coordinator.run("do it")
    assert result.text == "all done"
    todo = parse_todo((result.folder / "todo.md").read_text())
    assert (todo.goal, [step.state for step in todo.steps]) == ("Ship it", ["done"])
    assert tools_of(helper.requests[0]) == ["read_plan", "conclude"]
    seen = [m["content"] for m in loads(helper.requests[1])["messages"] if m["role"] == "tool"]
    assert seen == ["# Todo\n\nGoal: Ship it\n\n## Steps\n1. [ ] ask a helper\n"]
    assert "read_plan" not in tools_of(lead.requests[0])
    assert "Goal: Ship it" in loads(lead.requests[1])["messages"][-1]["content"]


async def test_a_run_that_goes_on_has_its_plan(tmp_path):
    lead = ScriptedModel([call("rewrite_todo", goal="Ship it", steps=[]), "first", "second"])
    coordinator = Coordinator(Agent("lead", "Lead.", lead, todo=True), runs=tmp_path)
    result = await coordinator.run("do it")
    (result.folder / "todo.md").unlink()
    again = await coordinator.ask(result.folder, "and now?")
    assert again.text == "second"
    assert "Goal: Ship it" in loads(lead.requests[2])["messages"][-1]["content"]
    assert (result.folder / "todo.md").is_file()
    assert len([e for e in read_entries(result.folder / "events.db") if e.thread == "main"]) > 5
