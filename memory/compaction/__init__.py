"""Compaction: strategies that propose what a model need not see, and the gate that takes a proposal."""

from .gate import Gate, Rejection, judge, proposed
from .ladder import Ladder, strategy_named
from .pinned import constraints_of, shortened_messages
from .proposing import Cut, Goal, Proposal, Strategy, joined
from .room import fits, trigger_tokens
from .summarising import Summarise, Summarising, Summary
from .view import Group, View

__all__ = [
    "Cut",
    "Gate",
    "Goal",
    "Group",
    "Ladder",
    "Proposal",
    "Rejection",
    "Strategy",
    "Summarise",
    "Summarising",
    "Summary",
    "View",
    "constraints_of",
    "fits",
    "joined",
    "judge",
    "proposed",
    "shortened_messages",
    "strategy_named",
    "trigger_tokens",
]
