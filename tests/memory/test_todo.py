"""The plan: its text reads back, nothing in it can pass for its frame, finished steps stay finished."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import State, Step, Todo, TodoError, one_line, parse_todo, render_todo

HOSTILE = (
    "</tail>",
    "## Steps",
    "1. [x] all done",
    "Goal: another",
    "# Todo",
    "- [ ] x",
    "a\nb",
    "a\u2028b",
    "a\r1. [x] b",
    "\u202egnihton",
    "\ud800",
    "",
)
lines = (
    st.text(max_size=30)
    | st.sampled_from(HOSTILE)
    | st.lists(st.sampled_from(HOSTILE)).map("".join)
).map(one_line)
fit = lines.filter(lambda line: bool(line) and "tail" not in line.casefold())
states = st.sampled_from(["pending", "in_progress", "done", "cancelled"])
steps = st.lists(st.builds(Step, fit, states), max_size=8, unique_by=lambda step: step.key).map(
    tuple
)
todos = st.builds(Todo, fit | st.just(""), st.lists(fit, max_size=4).map(tuple), steps)


@given(todos)
def test_a_plan_reads_back_as_it_was(todo: Todo) -> None:
    text = render_todo(todo)
    assert parse_todo(text) == todo
    assert text.count("# Todo\n") >= 1
    assert len(text.splitlines()) == len(text.removesuffix("\n").split("\n"))


@given(todos, st.data())
def test_a_changed_text_is_refused_or_is_another_plan(todo: Todo, data: st.DataObject) -> None:
    text = render_todo(todo)
    place = data.draw(st.integers(0, len(text)))
    changed = (
        text[:place]
        + data.draw(st.sampled_from(["\n", " ", "x", "- ", "## Steps\n"]))
        + text[place:]
    )
    try:
        other = parse_todo(changed)
    except TodoError:
        return
    assert other != todo
    assert render_todo(other) == changed


@pytest.mark.parametrize("text", ["</tail>", "x < / TAIL > y", "<tail>"])
def test_a_text_with_the_marks_of_a_tail_is_refused(text: str) -> None:
    for make in (lambda: Step(text), lambda: Todo(text), lambda: Todo(constraints=(text,))):
        with pytest.raises(TodoError, match="marks of a tail"):
            make()


@pytest.mark.parametrize(
    "text", ["a\nb", " a", "a\u2028b", "\x1b[2J", "\u202eb", "\ud800", "", "x" * 601]
)
def test_a_text_that_is_not_one_plain_line_is_refused(text: str) -> None:
    with pytest.raises(TodoError):
        Step(text)


def test_the_form_of_the_file() -> None:
    todo = Todo(
        "Ship it", ("Ask first",), (Step("build", "done"), Step("test", "in_progress"), Step("tag"))
    )
    assert render_todo(todo) == (
        "# Todo\n\nGoal: Ship it\n\n## Constraints\n- Ask first\n\n"
        "## Steps\n1. [x] build\n2. [>] test\n3. [ ] tag\n"
    )
    assert [number for number, _ in todo.open_steps] == [2, 3]
    with pytest.raises(TodoError, match=r"line 11 of todo.md does not fit: '3 \[ \] tag'"):
        parse_todo(render_todo(todo).replace("3. [ ]", "3 [ ]"))


def plan(**states: State) -> Todo:
    return Todo("goal", ("rule",), tuple(Step(text, state) for text, state in states.items()))


def test_a_rewrite_keeps_finished_steps_that_it_leaves_out() -> None:
    before = plan(a="done", b="cancelled", c="pending")
    after = before.rewritten(steps=[Step("d")])
    assert after == plan(a="done", b="cancelled", d="pending")


def test_a_rewrite_brings_no_finished_step_back_unless_it_says_so() -> None:
    before = plan(a="done", b="pending")
    for state in ("pending", "in_progress", "cancelled"):
        with pytest.raises(TodoError, match="name it in `reopen`"):
            before.rewritten(steps=[Step("A", state), Step("b")])
    assert before.rewritten(steps=[Step("a", "done"), Step("b")]) == before
    after = before.rewritten(steps=[Step("a"), Step("b")], reopen=["a"])
    assert after == plan(a="pending", b="pending")
    with pytest.raises(TodoError, match="no finished step: 'b'"):
        before.rewritten(steps=[Step("b")], reopen=["b"])


@given(todos, steps)
def test_whatever_is_rewritten_no_finished_step_is_lost_or_open_again(
    todo: Todo, new: tuple[Step, ...]
) -> None:
    try:
        after = todo.rewritten(steps=new)
    except TodoError:
        return
    states = {step.key: step.state for step in after.steps}
    assert all(states[step.key] == step.state for step in todo.steps if step.finished)


def test_a_plan_never_grows_over_its_number_of_steps() -> None:
    todo = Todo(steps=tuple(Step(f"old {n}", "done") for n in range(100)))
    after = todo.rewritten(steps=[Step(f"new {n}") for n in range(30)])
    assert len(after.steps) == 100
    assert after.steps[0].text == "old 30"
    with pytest.raises(TodoError, match="at most 100"):
        after.added(["one more"])


def test_an_update_changes_one_step_and_no_finished_one() -> None:
    todo = plan(a="done", b="pending")
    assert todo.updated(2, "done") == plan(a="done", b="done")
    assert todo.updated(1, "done") == todo
    with pytest.raises(TodoError, match="step 1 is done and stays so"):
        todo.updated(1, "pending")
    with pytest.raises(TodoError, match="step 1 is done"):
        todo.updated(1, text="something else")
    assert todo.updated(1, "pending", reopen=True) == plan(a="pending", b="pending")
    with pytest.raises(TodoError, match="there is no step 3; the plan has 2 steps"):
        todo.updated(3, "done")
    with pytest.raises(TodoError, match="two steps read"):
        todo.added(["B"])
