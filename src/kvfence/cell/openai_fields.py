"""Fields of a request that would change what is asked, and that this model cannot do: refused by name, in one table.

Fields that are checked and change nothing are in `openai_requests`: temperature, top_p, top_k, min_p and seed choose
among likely tokens, and this model has one answer. All that is in neither place is ignored, as OpenAI's API does.
"""

from __future__ import annotations

import msgspec

from kvfence.cell.openai_errors import ApiError

_HARMLESS: dict[str, tuple[object, ...]] = {
    "n": (1,),
    "best_of": (1,),
    "echo": (False,),
    "suffix": ("",),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "prompt_logprobs": (),
    "logit_bias": ({},),
    "presence_penalty": (0, 0.0),
    "frequency_penalty": (0, 0.0),
    "repetition_penalty": (1, 1.0),
    "length_penalty": (1, 1.0),
    "use_beam_search": (False,),
    "min_tokens": (0,),
    "ignore_eos": (False,),
    "stop_token_ids": ([],),
    "stop_regex": (),
    "include_stop_str_in_output": (False,),
    "no_stop_trim": (False,),
    "bad_words": ([],),
    "allowed_token_ids": (),
    "truncate_prompt_tokens": (),
    "prompt_embeds": (),
    "chat_template": (),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "modalities": (["text"],),
    "audio": (),
    "web_search_options": (),
    "response_format": ({"type": "text"},),
    "structured_outputs": (),
    "guided_json": (),
    "guided_regex": (),
    "guided_choice": (),
    "guided_grammar": (),
    "json_schema": (),
    "regex": (),
    "ebnf": (),
}
"""OpenAI's, vLLM's and SGLang's fields, with the values under which they ask for nothing (null besides)."""

_Asked = msgspec.defstruct("_Asked", [(name, object, None) for name in _HARMLESS], kw_only=True)


def refuse_unsupported(body: bytes) -> None:
    """Raise `ApiError` with status 400 for the first field that asks for what cannot be done. `body` is valid JSON."""
    asked = msgspec.json.decode(body, type=_Asked)
    for name, harmless in _HARMLESS.items():
        value = getattr(asked, name)
        if value is not None and (type(value), value) not in [(type(other), other) for other in harmless]:
            raise ApiError(400, f"'{name}' is not supported by this model", param=name)
