"""Where an engine keeps the keys and values of one layer: a strided view, so that no kernel knows an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kvfence.errors import UnsupportedError

WORD_BYTES = 8


class Tensor(Protocol):
    """What a view needs of NumPy's arrays and of torch's tensors."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""


T = TypeVar("T", bound=Tensor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer(Generic[T]):
    """The pool of one layer on one rank, as bytes.

    `parts` are views of shape (pages, slots, heads, bytes of a row), unsigned bytes: one where key and value of a
    token lie in one row (vLLM on CPU, latent attention), else the keys and then the values.
    """

    index: int
    """Of the model, from 0: the same on every rank and every stage."""
    first_head: int
    """The global number of this rank's first KV head."""
    parts: tuple[T, ...]

    def __post_init__(self) -> None:
        shapes = {part.shape[:3] for part in self.parts}
        if len(shapes) != 1 or any(len(part.shape) != 4 for part in self.parts):  # noqa: PLR2004 — the four axes above
            raise ValueError(f"layer {self.index}: parts of shapes {[part.shape for part in self.parts]}")
        if any(part.shape[3] % WORD_BYTES for part in self.parts):
            raise UnsupportedError(
                f"layer {self.index}: rows of {[part.shape[3] for part in self.parts]} bytes, which are no whole words "
                f"of {WORD_BYTES}; no digest is defined for them"
            )

    @property
    def slots(self) -> int:
        """Of a page."""
        return self.parts[0].shape[1]

    @property
    def heads(self) -> int:
        """On this rank."""
        return self.parts[0].shape[2]

    @property
    def row_bytes(self) -> int:
        """Of one head of one token: key and value together."""
        return sum(part.shape[3] for part in self.parts)

    def filled_slots(self, tokens: int, pages: int) -> tuple[int, ...]:
        """How many slots of each of a request's pages hold tokens: all, but for the last.

        Raises:
            ValueError: so many tokens do not lie in so many pages.
        """
        whole, rest = divmod(tokens, self.slots)
        filled = (self.slots,) * whole + ((rest,) if rest else ())
        if tokens < 1 or len(filled) != pages:
            raise ValueError(f"{tokens} tokens lie in {len(filled)} pages of {self.slots}, not {pages}")
        return filled
