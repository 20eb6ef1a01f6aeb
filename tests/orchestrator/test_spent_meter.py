"""What a run had spent is known again when it goes on, its cost by the prices of its models included."""

import pytest

from agents import Agent, Conclusion, LimitReached, Limits, Price, Reply, ScriptedModel, call
from memory import Text, Usage, loads, read_entries
from orchestrator import Coordinator
from orchestrator.run_state import spent_meter

PRICED = Limits(cost=10.0, prices={"dear": Price(100.0, 100.0), "*": Price(1.0, 1.0)})


async def test_the_cost_of_a_run_is_restored_model_by_model(tmp_path):
    delegate = call("delegate", tasks=[{"agent": "helper", "task": "look"}])
    lead = ScriptedModel(
        [
            Reply((delegate,), "tool_calls", Usage(10_000, 0)),
            Reply((Text("done"),), "stop", Usage(10_000, 0)),
        ],
        name="dear",
    )
    child = ScriptedModel(
        [Reply((call("conclude", answer="seen by the helper"),), "tool_calls", Usage(100_000, 0))],
        name="cheap",
    )
    helper = Agent("helper", "Help.", child, output_type=Conclusion)
    result = await Coordinator(Agent("lead", "Lead.", lead), [helper], runs=tmp_path).run("go")
    meter = spent_meter(PRICED, read_entries(result.folder / "events.db"))
    assert meter.usage == result.usage == Usage(120_000, 0)
    assert meter.cost == pytest.approx(2.0 + 0.1)
    assert (meter.model_calls, meter.agents) == (3, 1)


async def test_a_resumed_run_cannot_spend_its_limit_of_cost_again(tmp_path):
    lead = ScriptedModel([Reply((Text("one"),), "stop", Usage(90_000, 0))], name="dear")
    first = await Coordinator(Agent("lead", "Lead.", lead), runs=tmp_path).run("go")
    limits = Limits(cost=9.2, prices={"dear": Price(100.0, 100.0)})
    lead.script = ["-", "two"]
    coordinator = Coordinator(Agent("lead", "Lead.", lead), runs=tmp_path, limits=limits)
    again = await coordinator.ask(first.run_id, "and more?")
    assert again.status == "limit"
    assert "cost" in again.reason
    assert len(lead.requests) == 1


async def test_a_parent_can_read_the_whole_of_a_conclusion_that_was_cut(tmp_path):
    def lead(body):
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        if not results:
            return call("delegate", tasks=[{"agent": "helper", "task": "look"}])
        if len(results) == 1:
            path = results[0].partition("/artifacts/")[2].partition(".json")[0]
            return call("grep", text="last words", path=f"/artifacts/{path}.json")
        return results[1]

    long = " ".join(f"fact {n} of many." for n in range(4_000)) + " the last words"
    child = ScriptedModel(lambda _: call("conclude", answer=long))
    helper = Agent("helper", "Help.", child, output_type=Conclusion)
    model = ScriptedModel(lead)
    result = await Coordinator(Agent("lead", "Lead.", model), [helper], runs=tmp_path).run("go")
    handed = next(m for m in loads(model.requests[1])["messages"] if m["role"] == "tool")
    assert "the last words" not in handed["content"]
    assert "error" not in result.text
    assert "the last words" in result.text


def test_a_meter_without_prices_costs_nothing():
    meter = spent_meter(Limits(), [])
    assert meter.cost == 0
    with pytest.raises(LimitReached):
        spent_meter(Limits(agents=0), []).count_agent()
