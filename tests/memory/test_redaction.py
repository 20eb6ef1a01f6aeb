"""Secrets never leave by an exit, and what is no secret stays as it is."""

import base64
import hashlib
import json
import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import REDACTED, redact, redact_known, redact_value

SECRET = "hunter2-PLANTED"
NO_KEYS: dict[str, str] = {}


def nested(value: object, times: int) -> str:
    """JSON inside JSON, as tool arguments are in a request inside a log."""
    for _ in range(times):
        value = json.dumps({"arguments": value})
    return str(value)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"api_key": SECRET}),
        json.dumps({"a": [{"b": {"Client-Secret": SECRET}}]}),
        json.dumps({"password": SECRET + '"\\"'}),
        json.dumps({"credentials": {"user": SECRET, "more": [SECRET, {"x": SECRET}]}}),
        json.dumps({"text": f'he said {{"password": "{SECRET}"}} ok'}),
        f'"secret": "{SECRET}',
        f"Authorization: Basic {SECRET} and more\r\nHost: a",
        f"X-API-Key: {SECRET}",
        f"Cookie: a={SECRET}; b={SECRET}\nnext",
        f"curl -H 'x-api-key: {SECRET}' https://example.org",
        f"run --token {SECRET} --n 5",
        json.dumps(["--api-key", SECRET]),
        f"https://bob:{SECRET}@host/x?access_token={SECRET}&a=1",
        f"OPENAI_API_KEY={SECRET}",
        f'token == "{SECRET}"',
        f"ValueError: bad token: {SECRET}!",
        f"connect(token={SECRET}, b=2)",
        f"<password>{SECRET}</password>",
        repr({"headers": {"Authorization": f"Bearer {SECRET}"}}),
        repr([("x-api-key", SECRET)]),
        repr([(b"x-api-key", SECRET.encode())]),
        repr({b"x-api-key": SECRET.encode()}),
        f"HTTP 401 for Bearer {SECRET}-and-more",
    ],
)
@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_secrets_are_replaced_at_any_depth(text: str, times: int) -> None:
    once = redact(nested(text, times), NO_KEYS)
    assert SECRET not in once
    assert REDACTED in once
    assert redact(once, NO_KEYS) == once
    if times:
        json.loads(once)


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-" + "aB3" * 12,
        "sk-ant-api03-" + "x1" * 20,
        "ghp_" + "a1" * 18,
        "github_pat_" + "A1_" * 10,
        "xoxb-1234567890-abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "AIza" + "a" * 35,
        "glpat-" + "a1" * 10,
        "hf_" + "aB" * 17,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLXg",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_keys_are_known_by_their_shape(key: str) -> None:
    assert redact(f"use {key} now", NO_KEYS) == f"use {REDACTED} now"
    assert key not in redact(json.dumps({"said": f"({key})"}), NO_KEYS)


def _bytes(seed: int, count: int) -> bytes:
    return random.Random(seed).randbytes(count)


@pytest.mark.parametrize(
    "text",
    [
        *(str(uuid.UUID(bytes=_bytes(n, 16))) for n in range(20)),
        *(hashlib.sha256(_bytes(n, 9)).hexdigest() for n in range(20)),
        *(base64.b64encode(_bytes(n, 3000)).decode() for n in range(20)),
        *(base64.urlsafe_b64encode(_bytes(n, 3000)).decode() for n in range(20)),
        "data:image/png;base64," + base64.b64encode(_bytes(1, 500)).decode(),
        json.dumps({"sha256": "ab" * 32, "max_tokens": 100, "input_tokens": 5, "token_count": 3}),
        json.dumps({"tokenizer": "x", "author": "Bob", "primary_key": "id", "key": "v"}),
        json.dumps({"keywords": ["a"], "public_key": "ssh-rsa AAA", "tool_call_id": "call_1"}),
        json.dumps({"password": None, "secret": "", "token": True}),
        "bearer certificates are old, and so are basic questions",
        "https://example.org:8080/a/b?page=2",
        "The token economy and its authors, with the key idea of the passage.",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text, NO_KEYS) == text


def test_values_of_the_environments_keys_are_known_in_every_form() -> None:
    key = 'odd "key" \\ with/ümlaut'
    environment = {"SOME_API_KEY": key, "PATH": "/usr/bin:/bin", "SHORT_TOKEN": "abc"}
    for text in (
        key,
        nested(key, 1),
        nested(key, 2),
        "a?x=odd%20%22key%22%20%5C%20with%2F%C3%BCmlaut",
    ):
        for take in (redact, redact_known):
            assert "mlaut" not in take(text, environment)
    assert redact("/usr/bin:/bin abc", environment) == "/usr/bin:/bin abc"
    assert redact_known('{"password": "x"}', environment) == '{"password": "x"}'


def test_a_value_is_walked() -> None:
    value = {"Headers": {"Authorization": "x y"}, "a": [1, None, f'{{"token": "{SECRET}"}}']}
    assert redact_value(value, NO_KEYS) == {
        "Headers": {"Authorization": REDACTED},
        "a": [1, None, f'{{"token": "{REDACTED}"}}'],
    }
    assert redact_value({"credentials": {"n": 5, "on": True, "x": ["y"]}}, NO_KEYS) == {
        "credentials": {"n": REDACTED, "on": True, "x": [REDACTED]}
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    value=json_values,
    secret=st.text(st.characters(codec="utf-8"), min_size=1),
    times=st.integers(0, 2),
)
def test_any_secret_in_any_json_is_gone_and_the_rest_is_still_json(
    value: object, secret: str, times: int
) -> None:
    planted = "PLANTED" + secret
    text = nested(json.dumps({"before": value, "apiKey": planted, "after": value}), times)
    hidden = redact(text, NO_KEYS)
    assert "PLANTED" not in hidden
    inner: object = hidden
    for _ in range(times):
        inner = json.loads(str(inner))["arguments"]
    assert json.loads(str(inner))["apiKey"] == REDACTED
    assert redact(hidden, NO_KEYS) == hidden


@given(st.text())
def test_any_text_can_be_redacted_and_twice_is_as_once(text: str) -> None:
    once = redact(text, NO_KEYS)
    assert redact(once, NO_KEYS) == once


@pytest.mark.parametrize(
    "name",
    [
        "input_tokens_token",
        "access_tokens",
        "prompt_token",
        "my input_token",
        "token_counter_token",
        "access token",
    ],
)
def test_names_of_numbers_hide_no_secret_beside_them(name: str) -> None:
    value = {"input_tokens": 5, "token_counter": "o200k", name: SECRET}
    assert redact_value(value, NO_KEYS)[name] == REDACTED
    assert SECRET not in redact(
        json.dumps(value | {name.replace(" ", "_"): SECRET, name: 1}), NO_KEYS
    )


def test_the_folder_that_a_shell_is_in_is_no_password():
    environment = {"PWD": "/home/ann/work", "OLDPWD": "/home/ann/old", "DB_PWD": "/home/ann"}
    said = "in /home/ann/work, from /home/ann/old"
    assert redact(said, {"PWD": environment["PWD"], "OLDPWD": environment["OLDPWD"]}) == said
    assert redact_known(said, environment) == f"in {REDACTED}/work, from {REDACTED}/old"
