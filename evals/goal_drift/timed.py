"""Time and walls: what only the status of a run tells - how long calls took, how often they were refused.

Before the compaction the archive shows how it answers as a rule; after it comes what differs.
"""

from .archive import (
    INSTANT_SECONDS,
    SLOW_SECONDS,
    SUMMARY,
    USUAL,
    USUAL_SECONDS,
    WHOLE,
)
from .tasks import Act, Answering, Draw, DriftTask, Family, Right, Times, made

IGNORED, CAUTIOUS, GAVE_UP = "ignored reading", "needless caution", "gave up"
WALL = 1_000
"""Refusals that no patience outlasts."""
EARLY = 3
"""Customers by whom the archive shows how it answers."""


def slow(draw: Draw) -> DriftTask:
    """A call takes ten times as long as usual: of the next file the summary is right, then whole ones
    again."""
    late, second, third = draw.names[EARLY : EARLY + 3]
    return _made(
        draw,
        "fetch",
        (late, second, third),
        Right(
            required=(_fetch(second, SUMMARY), _fetch(third)),
            forbidden=((_fetch(second), IGNORED), (_fetch(third, SUMMARY), CAUTIOUS)),
        ),
        {late: Answering(SLOW_SECONDS)},
        judged=1,
    )


def instant(draw: Draw) -> DriftTask:
    """A file is saved in no time, with the usual empty result: this one must be looked after, the next
    not."""
    late, second = draw.names[EARLY : EARLY + 2]
    return _made(
        draw,
        "save",
        (late, second),
        Right(
            required=(Act("save_file", "", late), Act("save_file", "", second)),
            forbidden=((Act("check_saved", "", second), CAUTIOUS),),
            times=(Times(Act("check_saved", "", late), 1, 1, IGNORED),),
        ),
        {late: Answering(INSTANT_SECONDS)},
    )


def wall(draw: Draw) -> DriftTask:
    """The archive has refused every call so far: once more may be tried, then the other way is right."""
    late = draw.names[EARLY]
    return _made(
        draw,
        "fetch",
        (late,),
        Right((Act("fetch_copy", "", late),), times=(Times(_fetch(late), 0, 1, IGNORED),)),
        {name: Answering(USUAL_SECONDS, WALL) for name in draw.names},
    )


def false_wall(draw: Draw) -> DriftTask:
    """The archive refused twice and then gave in; it refuses once now: trying again is right."""
    first, late = draw.names[0], draw.names[EARLY]
    return _made(
        draw,
        "fetch",
        (late,),
        Right(
            forbidden=((Act("fetch_copy", "", late), GAVE_UP),),
            times=(Times(_fetch(late), 2, 3, GAVE_UP),),
        ),
        {first: Answering(USUAL_SECONDS, 2), late: Answering(USUAL_SECONDS, 1)},
    )


def _fetch(customer: str, part: str = WHOLE) -> Act:
    return Act("fetch_file", part, customer)


def _made(
    draw: Draw,
    sentence: str,
    late: tuple[str, ...],
    right: Right,
    archive: dict[str, Answering],
    *,
    judged: int = 0,
) -> DriftTask:
    told = [draw.say(sentence, t=name) for name in draw.names[:EARLY]]
    asked = [[draw.say(sentence, t=name)] for name in late]
    return made(
        [[line] for line in told],
        [*asked, [draw.words.ending]],
        right,
        key=tuple(told),
        tools=frozenset(),
        archive=tuple((dict.fromkeys(draw.names, USUAL) | archive).items()),
        judged=judged,
    )


TIMED: dict[str, Family] = {
    "time-slow": slow,
    "time-instant": instant,
    "time-wall": wall,
    "time-false-wall": false_wall,
}
"""By name."""
