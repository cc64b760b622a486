"""A canary in prompts of one's own, against the real cell: the old rules and the fence."""

import openai
import pytest

from kvfence import probe
from kvfence.probe.canaries.memory import Memory
from support.programs import served

CONTEXT = 4096
"""Tokens; a token of the cell's model is a byte. The prefill pool holds 35 % fewer."""
FILLER = "The harbour office measured the river levels with some care. "


def prompt_of(tokens):
    return (FILLER * (tokens // len(FILLER) + 1))[:tokens]


def asked(client, prompt, user):
    made = client.completions.create(model="induction", prompt=prompt, max_tokens=30, temperature=0, user=user)
    return made.choices[0].text


def canaries_over(url):
    """One prompt that fits, then longer ones than the prefill pool, of two users."""
    memory = Memory()
    results = []
    with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        for number, tokens in enumerate((2000, 3400, 2000, 3400, 2000, 3400)):
            canary = probe.canary(owner=f"user {number}", depth=0.5, registry=memory)
            try:
                answer = asked(client, canary.bury(prompt_of(tokens)), f"u{number}")
            except openai.BadRequestError:
                continue
            results.append((tokens, canary.check(answer)))
    return results


@pytest.mark.slow
def test_canaries_of_ones_own_find_the_leak_of_the_old_rules_and_nothing_under_the_fence():
    """Short prompts are clean under both; past the pool, another user's marker, or a refusal."""
    with served("--rules", "placeholder", "--context", str(CONTEXT)) as (url, _):
        leaky = canaries_over(url)
    with served("--rules", "fenced", "--context", str(CONTEXT)) as (url, _):
        fenced = canaries_over(url)
    assert {result.verdict for tokens, result in leaky if tokens == 2000} == {"clean"}
    leaks = [result for tokens, result in leaky if tokens == 3400 and result.verdict == "leak"]
    assert leaks
    assert all(foreign.planted_by.startswith("user ") for result in leaks for foreign in result.foreign)
    assert [(tokens, str(result.verdict)) for tokens, result in fenced] == [(2000, "clean")] * 3
