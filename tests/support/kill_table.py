"""Prints the kill matrix as a table: `PYTHONPATH=tests:. python -m support.kill_table`."""

import asyncio

from support.faults import FAULTS, SAMPLES, outcome


async def rows() -> list[str]:
    """One row a fault: the samples that fail with it, and how."""
    green = {name: await outcome(name) for name in SAMPLES}
    assert not any(green.values()), green
    lines = ["| fault | samples that fail, and how |", "|---|---|"]
    for fault in FAULTS:
        red = [(name, said) for name in SAMPLES if (said := await outcome(name, fault))]
        lines.append(f"| {fault} | {_told(red)} |")
    return lines


def _told(red: list[tuple[str, str]]) -> str:
    return "; ".join(f"`{name}` ({said.partition(';')[0]})" for name, said in red)


if __name__ == "__main__":
    print("\n".join(asyncio.run(rows())))
