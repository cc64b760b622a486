"""Counting tokens with a model's own tokenizer file where the endpoint does not: Hugging Face's `tokenizer.json`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kvfence.errors import UsageError
from kvfence.probe.counting import Counter


def tokenizer_of(path: Path) -> Counter:
    """Counts tokens of a text, without those that a chat template or a server adds.

    Raises:
        UsageError: the file is none, or the package that reads it is not installed.
    """
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 — heavy, and needed by few
    except ImportError as error:
        raise UsageError("--tokenizer needs the package `tokenizers`: pip install 'kvfence[tokenizer]'") from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises bare `Exception` for whatever is wrong
        raise UsageError(f"--tokenizer {path}: not a tokenizer.json that can be read: {error}") from error

    async def count(text: str) -> int | None:
        encoded = await asyncio.to_thread(tokenizer.encode, text, add_special_tokens=False)
        return len(encoded.ids)

    return Counter(count, f"{path.name} on this machine")
