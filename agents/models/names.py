"""From what a user writes for a model to the model."""

import importlib
import importlib.util
from typing import Any

from memory import JsonObject

from ..errors import AgentDefinitionError
from ..settings import OPENAI_URL, Settings
from .base import Model
from .langchain import LangChainModel
from .wire import WireModel

FORMS = (
    "'openai:MODEL' (OPENAI_API_KEY, or a base URL of any compatible server), 'extractive' (no model at "
    "all), 'PROVIDER:MODEL' through LangChain such as 'anthropic:MODEL', or a model object"
)


def resolve_model(
    model: object, *, base_url: str | None = None, settings: JsonObject | None = None
) -> Model:
    """The model that a name stands for; objects that are models, or LangChain's chat models, pass.

    `base_url` is for `openai:` names and goes before `OPENAI_BASE_URL`. `settings` are for names: further
    keys of the request (`max_tokens`, `temperature`...). Raises `AgentDefinitionError` for a name in no
    known form, a missing key, or a provider whose package is not installed.
    """
    if isinstance(model, str):
        return _named(model, base_url, settings or {})
    if isinstance(model, Model):
        return model
    if hasattr(model, "ainvoke"):
        from langchain_core.language_models import BaseChatModel

        if isinstance(model, BaseChatModel):
            return LangChainModel(model)
    raise AgentDefinitionError(f"{type(model).__name__} is no model; give {FORMS}")


def _named(name: str, base_url: str | None, settings: JsonObject) -> Model:
    if name == "extractive":
        from .extractive import ExtractiveModel

        return ExtractiveModel()
    provider, _, model = name.partition(":")
    if not provider or not model.strip():
        raise AgentDefinitionError(f"model {name!r} is in no known form; give {FORMS}")
    if provider == "openai":
        return _openai(model, base_url, settings)
    if base_url:
        raise AgentDefinitionError(
            f"a base URL is for 'openai:' names, not for {name!r}; any compatible server is 'openai:MODEL'"
        )
    return LangChainModel(_chat_model(provider, model, settings), name=name)


def _openai(model: str, base_url: str | None, settings: JsonObject) -> WireModel:
    known = Settings.from_env()
    url = base_url or known.openai_url
    if url.rstrip("/") == OPENAI_URL and not known.openai_key:
        raise AgentDefinitionError(
            f"model 'openai:{model}' needs OPENAI_API_KEY; set it, or give the base URL of another server "
            "(--base-url or OPENAI_BASE_URL), or use the model 'extractive', which needs neither"
        )
    return WireModel(model, url, api_key=known.openai_key, settings=settings)


def _chat_model(provider: str, model: str, settings: JsonObject) -> Any:
    """A LangChain chat model that leaves retries to us."""
    try:
        if provider == "anthropic" and importlib.util.find_spec("langchain_anthropic"):
            make = importlib.import_module("langchain_anthropic").ChatAnthropic
            return make(model=model, max_retries=0, **settings)
        make = importlib.import_module("langchain.chat_models").init_chat_model
        return make(model, model_provider=provider, max_retries=0, **settings)
    except ImportError as error:
        package = "'undrift[anthropic]'" if provider == "anthropic" else f"langchain-{provider}"
        raise AgentDefinitionError(
            f"model '{provider}:{model}' is not openai: or extractive, so it goes through LangChain, and "
            f"{error.name!r} is not installed: pip install langchain {package}; or give {FORMS}"
        ) from error
    except ValueError as error:
        words = str(error).partition("\n")[0]
        raise AgentDefinitionError(
            f"model '{provider}:{model}' is not usable: {words}; give {FORMS}"
        ) from error
