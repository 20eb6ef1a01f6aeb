"""Signals: the first lets the work clean up, the second ends the process at once."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from orchestrator.cli.guard import Interrupted
from orchestrator.cli.interrupts import run_async


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_work_clean_up(number: signal.Signals) -> None:
    done: list[str] = []

    async def work() -> None:
        os.kill(os.getpid(), number)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            done.append("cleaned up")

    before = signal.getsignal(number)
    with pytest.raises(Interrupted):
        run_async(work())
    assert done == ["cleaned up"]
    assert signal.getsignal(number) == before


def test_work_that_was_done_in_time_counts() -> None:
    async def work() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "saved"
        return "never"

    assert run_async(work()) == "saved"


def test_a_cancellation_from_inside_is_no_interruption() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_async(work())


def test_a_second_signal_ends_the_process_at_once() -> None:
    program = """
import asyncio, os, signal, time
from orchestrator.cli.interrupts import run_async

async def work():
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(60)
    finally:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)

run_async(work())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 130
    assert done.stderr.startswith("stopping and saving the run")
