"""OpenAI's two APIs, as vLLM, SGLang, llama.cpp and most vendors speak them: `/chat/completions`, `/completions`.

https://platform.openai.com/docs/api-reference/chat. Tokens are counted by `/tokenize`, which is no part of it: vLLM's
and SGLang's stands beside `/v1`, llama.cpp's as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.probe.dialects.dialect import Ask, Body, CountForm, Fields
from kvfence.probe.prompts import STOP
from kvfence.probe.replies import ModelCard, Reply, Response, model_cards, reply_of, token_count


@dataclass(frozen=True, slots=True)
class OpenAI:
    """Either API."""

    path: str = "chat/completions"
    limit_field: str = "max_tokens"
    """What the limit of an answer is called: some of OpenAI's own models want `max_completion_tokens`."""

    @property
    def described(self) -> str:
        """Whoever's it is."""
        return "an OpenAI-compatible endpoint"

    @property
    def counted_by(self) -> str:
        """See `count_forms`."""
        return "the endpoint's /tokenize"

    @property
    def needs_card(self) -> bool:
        """Nothing but the context is said there."""
        return False

    @property
    def tenant_fields(self) -> tuple[Fields, ...]:
        """`cache_salt` is vLLM's; a strict endpoint refuses what it does not know."""
        return (("user", "cache_salt"), ("user",), ())

    @property
    def stream_usage(self) -> Body:
        """Without it OpenAI, vLLM and SGLang stream none; an endpoint that does not know it may refuse the request."""
        return {"stream_options": {"include_usage": True}}

    def headers(self, api_key: str | None) -> dict[str, str]:
        """A bearer's key."""
        return {"authorization": f"Bearer {api_key}"} if api_key else {}

    def models_path(self, model: str | None) -> str:
        """The list of all."""
        del model
        return "models"

    def model_cards(self, response: Response, model: str | None) -> list[ModelCard] | None:
        """Each with its context, where the endpoint adds one."""
        del model
        return model_cards(response)

    def request(self, ask: Ask) -> tuple[str, Body]:
        """Greedy, and ended by the prompt's own stop."""
        said = self._said(ask.prompt)
        limit = {self.limit_field: ask.answer_tokens_max}
        return self.path, {"model": ask.model, **limit, "temperature": 0, "stop": [STOP], **said}

    def telling_apart(self, fields: Fields, salt: str) -> Body:
        """The same value in each field."""
        return dict.fromkeys(fields, salt)

    def reply(self, response: Response) -> Reply:
        """Of either API."""
        return reply_of(response)

    def count_forms(self, base_url: str) -> tuple[CountForm, ...]:
        """`messages` is vLLM's, which counts a chat with its template; `prompt` is SGLang's and vLLM's.

        `content` is llama.cpp's, which answers the others with no tokens at all.
        """
        forms = ("messages", "prompt", "content") if self._is_chat else ("prompt", "content")
        urls = dict.fromkeys((f"{base_url.removesuffix('/v1')}/tokenize", f"{base_url}/tokenize"))
        return tuple(CountForm(url, form) for url in urls for form in forms)

    def count_request(self, form: str, model: str, prompt: str) -> Body:
        """In one of the forms."""
        return {"model": model, form: messages(prompt) if form == "messages" else prompt}

    def token_count(self, response: Response) -> int | None:
        """Its `count`, or its tokens themselves."""
        return token_count(response)

    @property
    def _is_chat(self) -> bool:
        return self.path == "chat/completions"

    def _said(self, prompt: str) -> Body:
        return {"messages": messages(prompt)} if self._is_chat else {"prompt": prompt}


def messages(prompt: str) -> list[dict[str, str]]:
    """A chat of one message."""
    return [{"role": "user", "content": prompt}]


CHAT = OpenAI()
COMPLETIONS = OpenAI("completions")
