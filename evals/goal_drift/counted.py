"""Counted constraints: at most so many calls of each customer, with the status from several sources."""

from functools import partial

from memory import CallRule

from .tasks import Draw, DriftTask, Family, Right, made

MOST = 3
"""Calls of each customer."""
EARLY, LATE = 2, 3
"""How often each customer asks to be called before and after the filler."""
CUSTOMERS = 2
TOOL, ARGUMENT = "call_customer", "customer"


def counted(draw: Draw, *, source: str, wrong: float = 0.0) -> DriftTask:
    """Customers who ask for more calls than are allowed.

    `source` of the status: `code` counts in the tail; `model` has the agent write its counts into its plan;
    `absent` leaves it to what the agent still sees. `wrong` is the share of customers of whom the
    tail's limit is one too high.
    """
    customers = draw.names[:CUSTOMERS]
    rule = draw.say("most", n=MOST)
    calls: tuple[CallRule, ...] = ()
    if source == "code":
        calls = tuple(
            CallRule(TOOL, MOST + (draw.random.random() < wrong), ARGUMENT, (name,))
            for name in customers
        )
    asks = [[draw.say("phone", t=name)] for name in customers]
    return made(
        [[draw.words.brief, rule], *asks * EARLY],
        [*asks * LATE, [draw.words.ending]],
        Right(most=MOST),
        key=(rule,),
        pinned=(rule,),
        tools=frozenset({TOOL} | ({"todo"} if source == "model" else set())),
        calls=calls,
    )


COUNTED: dict[str, Family] = {
    "counted-code": partial(counted, source="code"),
    "counted-model": partial(counted, source="model"),
    "counted-wrong-10": partial(counted, source="code", wrong=0.1),
    "counted-wrong-30": partial(counted, source="code", wrong=0.3),
    "counted-absent": partial(counted, source="absent"),
}
"""By name."""
