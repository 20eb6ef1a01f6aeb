"""The task of 60 steps through the real coordinator: what each mechanism is for, shown by leaving it out."""

import pytest
from support.sixty_steps import ATTENTION, MECHANISMS, STEPS, Arm, run_arm

ALL = frozenset(MECHANISMS)


def test_all_on_finishes_with_the_goal_near_the_end_of_every_request() -> None:
    ended = run_arm(Arm("all on", ALL))
    assert ended.why == ""
    assert (ended.steps, ended.heeded, ended.broken) == (STEPS, 1.0, 0)
    assert ended.compactions >= 1


def test_all_off_fills_the_window_before_half() -> None:
    ended = run_arm(Arm("all off", frozenset(), None))
    assert "the window was full" in ended.why
    assert ended.turns < STEPS / 2


def test_without_compaction_the_window_is_full_before_the_end() -> None:
    ended = run_arm(Arm("without compaction", ALL - {"compaction"}))
    assert "the window was full" in ended.why
    assert ended.compactions == 0


@pytest.mark.parametrize(("attention", "finishes"), [(ATTENTION, False), (None, True)])
def test_without_recitation_a_policy_that_heeds_the_end_alone_goes_astray(
    attention: int | None, finishes: bool
) -> None:
    ended = run_arm(Arm("without recitation", ALL - {"recitation"}, attention))
    assert ended.finished is finishes
    assert ended.heeded < 0.5
    assert finishes or ended.broken > 0


def test_without_notes_and_looking_back_what_was_found_is_not_at_hand_at_the_end() -> None:
    ended = run_arm(Arm("without look-back", ALL - {"look-back"}))
    assert f"of {STEPS} seals" in ended.why


@pytest.mark.parametrize("name", ["offload", "delegation"])
def test_offload_and_delegation_spare_compactions(name: str) -> None:
    """Compaction makes up for them, at the price of a broken prefix each time."""
    on, off = run_arm(Arm("all on", ALL)), run_arm(Arm("", ALL - {name}))
    assert off.finished
    assert off.compactions > on.compactions
