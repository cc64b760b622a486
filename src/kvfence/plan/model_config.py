"""A model's `config.json`: read from disk, values checked as they are asked for.

Multimodal models keep the language model's values in a nested object; those are looked at first, the outer ones next,
as both engines do (`get_hf_text_config` in SGLang's and vLLM's `config`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvfence.errors import TargetError, UsageError

NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
FILE_BYTES_MAX = 64 << 20
"""A config is some KB, an index of weights some MB; more is not one of them."""
WHOLE_MAX = 1 << 40
LAYERS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What a model says of itself."""

    file: str
    outer: Mapping[str, Any]
    text: Mapping[str, Any]

    def get(self, *names: str) -> Any:
        """The first of these that is there and not null; the language model's before the outer one's."""
        for name in names:
            for values in (self.text, self.outer):
                if values.get(name) is not None:
                    return values[name]
        return None

    def whole(self, *names: str, default: int | None = None) -> int:
        """A whole number above 0."""
        value = self.get(*names)
        if value is None:
            if default is None:
                raise UsageError(f"{self.file}: no {' or '.join(names)}; give a config that has it")
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
            raise UsageError(f"{self.file}: {names[0]} is {value!r}; it must be a whole number")
        if not 0 < value < WHOLE_MAX:
            raise UsageError(f"{self.file}: {names[0]} is {value!r}; it must be above 0 and below {WHOLE_MAX:,}")
        return int(value)

    def count(self, *names: str) -> int:
        """A whole number of 0 or more; absent is 0."""
        value = self.get(*names)
        return 0 if value in (None, 0) else self.whole(*names)

    def words(self, name: str) -> tuple[str, ...]:
        """A list of texts; absent is empty."""
        value = self.get(name)
        if value is None:
            return ()
        if not isinstance(value, list | str):
            raise UsageError(f"{self.file}: {name} is {type(value).__name__}; it must be a list")
        return tuple(map(str, value))

    def part(self, *names: str) -> Mapping[str, Any]:
        """A nested object; absent is empty."""
        value = self.get(*names)
        return value if isinstance(value, Mapping) else {}

    @property
    def architecture(self) -> str:
        """The class's name, or the model type."""
        named = self.words("architectures")
        return named[0] if named else str(self.get("model_type") or "of no name")

    @property
    def layers(self) -> int:
        """Layers of the language model, without those for drafts."""
        count = self.whole("num_hidden_layers", "n_layer", "num_layers", "n_layers")
        if count > LAYERS_MAX:
            raise UsageError(f"{self.file}: num_hidden_layers is {count:,}; over {LAYERS_MAX:,} is no model")
        return count

    @property
    def hidden(self) -> int:
        """Width of the language model."""
        return self.whole("hidden_size", "n_embd", "d_model")


def read(where: str) -> ModelConfig:
    """The config of a file, or of `config.json` in a folder.

    Raises:
        TargetError: it cannot be read, or is no JSON object.
    """
    path = Path(where)
    file = path / "config.json" if path.is_dir() else path
    return parse(document(file), str(file))


def parse(values: Mapping[str, Any], file: str) -> ModelConfig:
    """The same of what is in memory already."""
    text: Mapping[str, Any] = values
    for name in NESTED:
        while isinstance(inner := text.get(name), Mapping):
            text = inner
    return ModelConfig(file, values, text)


def document(file: Path) -> Mapping[str, Any]:
    """A JSON object from a file."""
    try:
        if file.stat().st_size > FILE_BYTES_MAX:
            raise TargetError(f"{file}: over {FILE_BYTES_MAX >> 20} MiB; give the model's config.json")
        values = json.loads(file.read_bytes())
    except OSError as error:
        hint = "give a model's config.json, or the folder that has it; names on a hub are not looked up"
        raise TargetError(f"{file}: {error.strerror or error}; {hint}") from error
    except (ValueError, RecursionError) as error:
        raise TargetError(f"{file}: not JSON ({str(error)[:80]}); give the model's config.json") from error
    if not isinstance(values, Mapping):
        raise TargetError(f"{file}: JSON, but no object; give the model's config.json")
    return values
