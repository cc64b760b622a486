"""The checkpoint that real engines are probed with recites a prompt's markers, computed as Llama says it should be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kvfence.probe.prompts import STOP, Recipe, answer_tokens, build
from kvfence.probe.recital import recital
from support import reciting_model as model
from support.reciting_gguf import write_gguf


def _rotated(rows: np.ndarray, start: int) -> np.ndarray:
    """(tokens, heads, 256) with each pair turned by its place."""
    half = model.HEAD // 2
    angles = np.arange(start, start + len(rows))[:, None, None] * model.THETA ** (-np.arange(half) / half)
    one, other = rows[..., :half], rows[..., half:]
    return np.concatenate(
        [one * np.cos(angles) - other * np.sin(angles), other * np.cos(angles) + one * np.sin(angles)], axis=-1
    )


def _normal(rows: np.ndarray) -> np.ndarray:
    return rows / np.sqrt((rows**2).mean(-1, keepdims=True) + 1e-6)


class _Llama:
    """Two layers of attention over all keys so far; the layers between them add nothing."""

    def __init__(self) -> None:
        self._weights = model.weights()
        self._keys: list[np.ndarray] = [np.zeros((0, 1, model.HEAD))] * model.LAYERS
        self._values: list[np.ndarray] = [np.zeros((0, model.HEAD))] * model.LAYERS

    def next_byte(self, tokens: bytes) -> int:
        """What follows these tokens, which come after all before."""
        rows = self._weights["model.embed_tokens.weight"][np.frombuffer(tokens, np.uint8)].astype(np.float64)
        for layer in range(model.LAYERS):
            rows = rows + self._attention(layer, _normal(rows))
        return int((self._weights["lm_head.weight"] @ _normal(rows[-1])).argmax())

    def _attention(self, layer: int, rows: np.ndarray) -> np.ndarray:
        q, k, v, o = (self._weights[f"model.layers.{layer}.self_attn.{name}_proj.weight"] for name in "qkvo")
        start = len(self._values[layer])
        asks = _rotated((rows @ q.T).reshape(len(rows), model.SUFFIX, model.HEAD), start)
        self._keys[layer] = np.concatenate([self._keys[layer], _rotated((rows @ k.T)[:, None], start)])
        self._values[layer] = np.concatenate([self._values[layer], rows @ v.T])
        scores = np.einsum("ihd,jd->hij", asks, self._keys[layer][:, 0], optimize=True) / np.sqrt(model.HEAD)
        later = np.arange(len(self._values[layer])) > start + np.arange(len(rows))[:, None]
        scores = np.where(later, -np.inf, scores)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (weights / weights.sum(-1, keepdims=True)) @ self._values[layer]
        return seen.transpose(1, 0, 2).reshape(len(rows), -1) @ o.T


@pytest.mark.parametrize("depths", [1, 2])
def test_every_marker_comes_back_in_order(depths: int):
    prompt = build(Recipe(seed=3, tenant="a", request=1, filler_chars=300, depths=depths), b"key")
    llama = _Llama()
    answer = bytes([llama.next_byte(prompt.text.encode())])
    while len(answer) < answer_tokens(depths) and not answer.endswith(STOP.encode()):
        answer += bytes([llama.next_byte(answer[-1:])])
    read = recital(answer.decode(), tuple(marker.text for marker in prompt.markers), cut=False)
    assert read.is_right, answer


def test_its_files_hold_every_number_once(tmp_path: Path):
    """Both formats: a header that says where, and then as many bytes as it says."""
    folder = model.write_checkpoint(tmp_path / "model", context=2048)
    data = (folder / "model.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    numbers = sum(one.nbytes for one in model.weights().values())
    assert max(one["data_offsets"][1] for name, one in header.items() if name != "__metadata__") == numbers
    assert len(data) == 8 + size + numbers
    gguf = write_gguf(tmp_path / "model.gguf", context=2048).read_bytes()
    assert gguf[:4] == b"GGUF"
    assert len(gguf) > numbers
