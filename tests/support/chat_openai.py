"""`ChatOpenAI` for a server on loopback, with connections that end with the test.

Left alone it caches its HTTP client for the process, whose open sockets outlive the test's event loop.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient


@contextlib.asynccontextmanager
async def chat_openai(url: str, **given: Any) -> AsyncIterator[ChatOpenAI]:
    """A chat model for the server at `url`, without retries of its own, usage reported in streams."""
    async with DefaultAsyncHttpxClient() as client:
        options: dict[str, Any] = {"model": "m", "api_key": "none", "max_retries": 0} | given
        yield ChatOpenAI(base_url=url, http_async_client=client, stream_usage=True, **options)
