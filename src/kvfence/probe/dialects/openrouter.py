"""OpenRouter: OpenAI's chat, handed on to a provider; to one alone, where one is pinned.

Sources: openrouter.ai/docs/features/provider-routing (`order`, `only`, `allow_fallbacks`),
/docs/guides/features/message-transforms (a plugin that cuts the middle out of prompts), /docs/api/api-reference/
endpoints (who serves a model, by the tag that requests name and the name that answers have).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from kvfence.errors import UsageError
from kvfence.findings.listed import listed
from kvfence.probe.dialects.dialect import Ask, Body, CountForm, Fields
from kvfence.probe.dialects.openai import OpenAI
from kvfence.probe.replies import ModelCard, Response, declared_in, json_object

SHOWN_MAX = 12
WHOLE_PROMPT = {"plugins": [{"id": "context-compression", "enabled": False}]}
"""Else a prompt that is too long for a small context may lose its middle, and be answered with status 200."""


@dataclass(frozen=True, slots=True)
class OpenRouter(OpenAI):
    """Under a base such as https://openrouter.ai/api/v1."""

    pinned: str | None = None
    """A provider's tag, such as `deepinfra` or `deepinfra/fp8`; None: whichever OpenRouter chooses."""

    @property
    def described(self) -> str:
        """With the provider, for another one is another endpoint."""
        return f"OpenRouter with {self.pinned} pinned" if self.pinned else "OpenRouter"

    @property
    def needs_card(self) -> bool:
        """Answers name their provider in other words than requests do."""
        return self.pinned is not None

    @property
    def tenant_fields(self) -> tuple[Fields, ...]:
        """Whether it reaches the provider is not said; a salt is not handed on."""
        return (("user",), ())

    def models_path(self, model: str | None) -> str:
        """Who serves the model, where one of them is pinned."""
        return f"models/{quote(model)}/endpoints" if self.pinned and model else "models"

    def model_cards(self, response: Response, model: str | None) -> list[ModelCard] | None:
        """The pinned provider's context, the smallest where it serves the model in several forms."""
        if not (self.pinned and model):
            return OpenAI.model_cards(self, response, model)
        body = json_object(response)
        inside = body.get("data") if body is not None and response.is_success else None
        endpoints = inside.get("endpoints") if isinstance(inside, dict) else None
        if not isinstance(endpoints, list):
            return None
        known = [one for one in endpoints if isinstance(one, dict) and isinstance(one.get("tag"), str)]
        own = [one for one in known if self._is_pinned(one["tag"])]
        if not own:
            tags = listed(sorted(one["tag"] for one in known), SHOWN_MAX) or "nobody"
            raise UsageError(f"OpenRouter has no provider '{self.pinned}' for {model}; it has {tags}")
        names = dict.fromkeys(str(one["provider_name"]) for one in own if one.get("provider_name"))
        contexts = [context for one in own if (context := declared_in(one)) is not None]
        return [ModelCard(model, min(contexts, default=None), tuple(names))]

    def request(self, ask: Ask) -> tuple[str, Body]:
        """To the pinned provider and nobody else, and with the prompt as it is."""
        path, body = OpenAI.request(self, ask)
        return path, {**body, **WHOLE_PROMPT, **self._routing()}

    def count_forms(self, base_url: str) -> tuple[CountForm, ...]:
        """Nobody counts beforehand."""
        del base_url
        return ()

    def _routing(self) -> Mapping[str, Any]:
        only = [self.pinned]
        return {"provider": {"order": only, "only": only, "allow_fallbacks": False}} if self.pinned else {}

    def _is_pinned(self, tag: str) -> bool:
        """A tag may have a part after its provider, such as a precision; pinned without one, all of them are meant."""
        return tag == self.pinned or tag.partition("/")[0] == self.pinned
