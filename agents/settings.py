"""The one place that reads the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

OPENAI_URL = "https://api.openai.com/v1"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says about models."""

    openai_url: str = OPENAI_URL
    """Base address of `openai:` models, from `OPENAI_BASE_URL`."""
    openai_key: str = field(default="", repr=False)
    """From `OPENAI_API_KEY`; `""` when there is none, which only local servers accept."""
    proxies: bool = False
    """True when a proxy is named (`HTTPS_PROXY` and its kin): connections then look it up."""

    @classmethod
    def from_env(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """The settings as this process's environment has them, unset and empty being the same."""
        return cls(
            openai_url=environment.get("OPENAI_BASE_URL") or OPENAI_URL,
            openai_key=environment.get("OPENAI_API_KEY", ""),
            proxies=any(environment.get(p) or environment.get(p.upper()) for p in _PROXIES),
        )
