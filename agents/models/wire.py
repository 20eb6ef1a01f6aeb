"""`WireModel`: any server that speaks chat completions, over aiohttp, with the bytes as the codec made them.

A request is posted as it stands and read as it streams; nothing is validated twice. What a server turns
out to want (tool choice by schema, reasoning sent back, a setting left out) is found out once for the
endpoint, told to the log, and changes `codec` and `settings`: the loop then makes the request again.
"""

import io
import zlib
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from memory import Codec, JsonObject, Text, ToolCall

from ..errors import AgentDefinitionError, CodecChanged
from ..settings import OPENAI_URL, Settings
from .base import Delta, Reply, Sink
from .chat_codec import ChatCodec
from .chat_reply import ChatReply
from .endpoint import Line, Retries, endpoint_for, retried
from .failures import Failure, refusal
from .findings import Notice
from .pace import BYTES_A_TOKEN, Rate
from .reading import read_stream, read_whole, read_words, understood
from .schema_mode import read_choice

# Bytes above which aiohttp wants a file in place of bytes.
_BIG_BODY = 2**20
_CONNECT_SECONDS = 15.0
_LEARNABLE = (400, 404, 415, 422, 500, 501)


@dataclass(frozen=True, slots=True)
class WireOptions:
    """What is seldom set: how a server is spoken to where finding out is not wanted."""

    reasoning: Literal["auto", "omit", "return"] = "auto"
    """Whether reasoning is sent back; `auto` leaves it out until the server asks for it."""
    tools: Literal["auto", "native", "schema"] = "auto"
    """How tools are offered; `auto` goes over to schema when the server has no tool calls."""
    codec: Codec | None = None
    """Fixes the bytes altogether; nothing is found out then."""
    retries: Retries = field(default_factory=Retries)
    rate: Rate = field(default_factory=Rate)
    """How fast the endpoint may be asked; all models of one address and key share it."""
    timeout: float = 300.0
    """The longest silence of the server, in seconds."""


class WireModel:
    """A model behind an OpenAI-compatible `chat/completions` address.

    `model` is the server's name for it, `base_url` ends before `/chat/completions`. `settings` are further
    keys of the body (`temperature`, `max_tokens`, `seed`...). `window` is in tokens, `None` when unknown.
    Raises `AgentDefinitionError` for an unusable address or setting.
    """

    def __init__(
        self,
        model: str,
        base_url: str = OPENAI_URL,
        *,
        api_key: str = "",
        stream: bool = True,
        settings: JsonObject | None = None,
        window: int | None = None,
        options: WireOptions | None = None,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise AgentDefinitionError(
                f"base URL {base_url!r} is no web address; it looks like 'http://localhost:8080/v1'"
            )
        self.name = f"openai:{model}"
        self.window = window
        self.base_url = base_url.rstrip("/")
        self._url = f"{self.base_url}/chat/completions"
        self._model, self._key = model, api_key
        self._given = _body_settings(model, stream, settings or {})
        self._options = options or WireOptions()
        self._proxies = Settings.from_env().proxies
        self._endpoint = endpoint_for(self.base_url, api_key)
        self._endpoint.rate &= self._options.rate
        self._findings = self._endpoint.findings(model)
        self._version = -1
        self._codec: Codec = self._options.codec or ChatCodec()
        self._settings: JsonObject = {}

    def __repr__(self) -> str:
        return f"WireModel({self._model!r}, {self.base_url!r})"

    @property
    def codec(self) -> Codec:
        """Makes the bytes; another object once something was found out about the endpoint."""
        self._follow_findings()
        return self._codec

    @property
    def settings(self) -> JsonObject:
        """The body's keys beside tools and messages, without what the server refuses."""
        self._follow_findings()
        return self._settings

    async def send(self, body: bytes, sink: Sink | None = None) -> Reply:
        """Post the bytes and return the whole reply; after a drop `sink` hears the reply from its start.

        Raises `CodecChanged` when the request must be made again with `codec` and `settings`, and
        langchain-core's model errors when there is no answer to be had.
        """
        self._follow_findings()
        version, schema = self._version, getattr(self._codec, "tools", "") == "schema"
        line = self._endpoint.line(self, self._proxies)
        # In schema mode the text is JSON; only the answer inside it is for readers.
        listener = _without_text(sink) if schema else sink
        failures: list[str] = []
        try:
            reply, server = await retried(
                lambda: self._once(line, body, listener, version),
                line.gate,
                self._options.retries,
                failures,
            )
        except Failure as failure:
            raise failure.as_error(self.name, self._key) from None
        notices: list[Notice] = [("model_retry", {"failures": failures})] if failures else []
        if schema:
            reply = _chosen(reply, body, sink)
        elif notice := await self._learn(line, reply, body, server):
            raise CodecChanged((*notices, notice))
        return replace(reply, notices=tuple(notices)) if notices else reply

    async def close(self) -> None:
        """Close this event loop's connections, unless another model of the endpoint uses them."""
        await self._endpoint.release(self)

    def _follow_findings(self) -> None:
        findings, options = self._findings, self._options
        if self._version == findings.version:
            return
        self._version = findings.version
        self._settings = findings.settle(self._given)
        if options.codec is None:
            self._codec = ChatCodec(
                findings.reasoning if options.reasoning == "auto" else options.reasoning,
                findings.tools if options.tools == "auto" else options.tools,
            )

    async def _once(
        self, line: Line, body: bytes, sink: Sink | None, version: int
    ) -> tuple[Reply, str]:
        """One sending; a refusal that teaches something, or did to somebody else, changes the codec."""
        try:
            return await self._attempt(line, body, sink)
        except Failure as failure:
            if self._options.codec is None and failure.status in _LEARNABLE:
                notice = self._findings.learn(failure, self._settings)
                if notice or self._findings.version != version:
                    raise CodecChanged((notice,) if notice else ()) from None
            raise

    def _streams(self, content_type: str) -> bool:
        """Whether an answer is a stream; some servers forget to say so."""
        asked = bool(self._given.get("stream")) and "json" not in content_type
        return content_type == "text/event-stream" or asked

    async def _attempt(self, line: Line, body: bytes, sink: Sink | None) -> tuple[Reply, str]:
        """One sending: the reply and the server's name for itself. Raises `Failure`."""
        import aiohttp

        limits = aiohttp.ClientTimeout(
            total=None, sock_connect=_CONNECT_SECONDS, sock_read=self._options.timeout
        )
        tokens = len(body) // BYTES_A_TOKEN
        data = body if len(body) < _BIG_BODY else io.BytesIO(body)
        answer = ChatReply(sink)
        try:
            async with (
                line.gate.passing(tokens),
                line.session.post(
                    self._url, data=data, timeout=limits, allow_redirects=False
                ) as response,
            ):
                if response.status != 200:
                    words = await read_words(response)
                    raise refusal(response.status, response.headers, words)
                if self._streams(response.content_type):
                    await read_stream(response, answer)
                else:
                    await read_whole(response, answer)
                server = response.headers.get("Server", "")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._lost(error) from error
        reply = understood(lambda: answer.reply(lambda: _seed(body)))
        line.gate.correct(reply.usage.total - tokens)
        return reply, server

    def _lost(self, error: Exception) -> Failure:
        import aiohttp

        words = f"{self.base_url} gave no whole answer: {type(error).__name__} {error}".rstrip()
        if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.InvalidURL):
            return Failure("connection", words, retryable=False)
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return Failure("connection", f"{self.base_url} does not answer: {error}", tries=3)
        if isinstance(error, TimeoutError):
            return Failure(
                "timeout", f"{words} within {self._options.timeout:g} s of silence", tries=2
            )
        return Failure("connection", words)

    async def _learn(self, line: Line, reply: Reply, body: bytes, server: str) -> Notice | None:
        """What a reply teaches about the endpoint's tool calls."""
        findings = self._findings
        if (
            findings.tools_settled
            or self._options.tools != "auto"
            or self._options.codec is not None
        ):
            return None
        if body.find(b'"tools":[', 0, body.find(b'"messages":[')) < 0:
            return None
        notice = findings.learn_from(reply)
        if notice or reply.calls or findings.asked_server or not server.startswith("llama.cpp"):
            return notice
        findings.asked_server = True
        if await self._template_lacks_tools(line):
            return findings.use_schema("the server's chat template has no tool calls")
        return None

    async def _template_lacks_tools(self, line: Line) -> bool:
        """True when a llama.cpp server says so; it would pass over tools without a word."""
        import aiohttp

        url = f"{self.base_url.removesuffix('/v1')}/props"
        try:
            async with line.session.get(url, timeout=aiohttp.ClientTimeout(total=10)) as response:
                props: Any = orjson.loads(await response.read())
            return props["chat_template_caps"]["supports_tool_calls"] is False
        except (aiohttp.ClientError, TimeoutError, ValueError, LookupError, TypeError):
            return False


def _body_settings(model: str, stream: bool, extra: JsonObject) -> JsonObject:
    settings: JsonObject = {"model": model}
    if stream:
        settings |= {"stream": True, "stream_options": {"include_usage": True}}
    if taken := extra.keys() & {"messages", "tools", "response_format", *settings}:
        raise AgentDefinitionError(f"settings {sorted(taken)!r} of a model are made by the adapter")
    return settings | extra


def _seed(body: bytes) -> str:
    """Made-up ids differ from turn to turn and are the same when a request is sent again."""
    return f"{zlib.crc32(body):08x}"


def _chosen(reply: Reply, body: bytes, sink: Sink | None) -> Reply:
    """A schema-mode reply with its JSON text read as a call or an answer, as it is when it is neither."""
    choice = read_choice(reply.text, f"call_{_seed(body)}_1")
    if choice is None:
        choice = reply.text
    if isinstance(choice, str) and sink is not None and choice:
        sink(Delta("text", choice))
    block = choice if isinstance(choice, ToolCall) else Text(choice)
    content = tuple(part for part in reply.content if not isinstance(part, Text))
    finish = "tool_calls" if isinstance(choice, ToolCall) else reply.finish
    return replace(reply, content=(*content, block), finish=finish)


def _without_text(sink: Sink | None) -> Sink | None:
    if sink is None:
        return None

    def listener(delta: Delta) -> None:
        if delta.kind != "text":
            sink(delta)

    return listener
