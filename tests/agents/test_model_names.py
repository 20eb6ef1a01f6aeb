"""Names of models, and what the environment says about them."""

import subprocess
import sys

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from agents import (
    AgentDefinitionError,
    LangChainModel,
    Model,
    ScriptedModel,
    WireModel,
    resolve_model,
)
from agents.settings import Settings


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def wire(model: Model) -> WireModel:
    assert isinstance(model, WireModel)
    return model


def test_openai_needs_a_key() -> None:
    with pytest.raises(AgentDefinitionError, match=r"needs OPENAI_API_KEY.*extractive"):
        resolve_model("openai:gpt-x")


def test_openai_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    model = wire(resolve_model("openai:gpt-x"))
    assert model.base_url == "https://api.openai.com/v1"
    assert model.name == "openai:gpt-x"
    assert model.settings["model"] == "gpt-x"


def test_a_base_url_works_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    given = wire(resolve_model("openai:qwen", base_url="http://localhost:8080/v1/"))
    assert given.base_url == "http://localhost:8080/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v1")
    assert wire(resolve_model("openai:qwen")).base_url == "http://localhost:9/v1"
    argument = wire(resolve_model("openai:qwen", base_url="http://localhost:7/v1"))
    assert argument.base_url == "http://localhost:7/v1"


def test_a_models_name_may_hold_colons() -> None:
    model = resolve_model("openai:qwen2.5:7b", base_url="http://localhost:11434/v1")
    assert model.settings["model"] == "qwen2.5:7b"


def test_extractive() -> None:
    assert isinstance(resolve_model("extractive"), Model)


@pytest.mark.parametrize("name", ["gpt-x", "", ":x", "openai:", "openai: "])
def test_a_name_in_no_form_lists_the_forms(name: str) -> None:
    with pytest.raises(AgentDefinitionError, match=r"openai:MODEL.*extractive.*PROVIDER:MODEL"):
        resolve_model(name)


@pytest.mark.parametrize("name", ["anthropic:claude-x", "nosuchprovider:x"])
def test_a_provider_that_is_not_installed_names_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("langchain", "langchain.chat_models", "langchain_anthropic"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AgentDefinitionError, match=r"pip install langchain .*(undrift|nosuch)"):
        resolve_model(name)


def test_a_base_url_for_another_provider_is_refused() -> None:
    with pytest.raises(AgentDefinitionError, match="a base URL is for 'openai:' names"):
        resolve_model("anthropic:claude-x", base_url="http://localhost:1/v1")


def test_objects_pass() -> None:
    scripted = ScriptedModel(["hi"])
    assert resolve_model(scripted) is scripted
    chat = resolve_model(FakeListChatModel(responses=["hi"]))
    assert isinstance(chat, LangChainModel)


@pytest.mark.parametrize("thing", [42, object(), ["openai:x"]])
def test_other_objects_do_not(thing: object) -> None:
    with pytest.raises(AgentDefinitionError, match="is no model"):
        resolve_model(thing)


def test_settings_hide_the_key_and_know_proxies() -> None:
    settings = Settings.from_env({"OPENAI_API_KEY": "sk-secret", "HTTPS_PROXY": "http://p"})
    assert settings.openai_key == "sk-secret"
    assert "sk-secret" not in repr(settings)
    assert settings.proxies
    assert not Settings.from_env({"OPENAI_BASE_URL": ""}).proxies
    assert Settings.from_env({"OPENAI_BASE_URL": ""}).openai_url.startswith("https://api.openai")


def test_names_load_no_provider_library() -> None:
    """Start-up time: aiohttp comes with the first request, LangChain with the first chat model."""
    code = (
        "import sys; from agents import resolve_model; "
        "resolve_model('openai:m', base_url='http://localhost:1/v1'); "
        "print([m for m in ('aiohttp', 'langchain_core', 'tenacity', 'openai') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
