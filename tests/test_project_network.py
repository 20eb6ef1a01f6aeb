"""Tests reach loopback and nothing else."""

import asyncio
import socket

import pytest
from pytest_socket import SocketConnectBlockedError

# The block also warns, and warnings are errors here: either stops a test, the error is the point.
pytestmark = pytest.mark.filterwarnings("ignore:A test tried to use socket:UserWarning")

# TEST-NET-1 (RFC 5737): no host ever answers there, so a lost block shows as another error.
ELSEWHERE = ("192.0.2.1", 9)


def test_a_connection_off_the_machine_is_refused() -> None:
    with socket.socket() as sock:
        sock.settimeout(0.01)
        with pytest.raises(SocketConnectBlockedError):
            sock.connect(ELSEWHERE)


async def test_an_asyncio_connection_off_the_machine_is_refused() -> None:
    with pytest.raises(SocketConnectBlockedError):
        await asyncio.open_connection(*ELSEWHERE)


async def test_loopback_answers() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"here")
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        assert await reader.read() == b"here"
        writer.close()
        await writer.wait_closed()
