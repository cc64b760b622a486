"""The model that recites as llama.cpp reads it: the same weights and the same bytes as tokens, in one GGUF file.

The format is said in ggml's docs/gguf.md: a header, keys with typed values, tensors with their places, the numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from support import reciting_model as model

_ALIGNMENT = 32
_WORD, _INT, _FLOAT, _BOOL, _TEXT, _LIST = 4, 5, 6, 7, 8, 9
_NORMAL, _CONTROL, _UNUSED = 1, 3, 5
_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(path: Path, *, context: int) -> Path:
    """The file of a model with so many tokens of context; at most 4,096."""
    tensors = {_renamed(name): _paired(name, one) for name, one in model.weights().items()}
    keys = _keys(context)
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(keys)), *keys]
    start, numbers = 0, []
    for name, one in tensors.items():
        shape = one.shape[::-1]
        head.append(_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, start))
        padded = one.tobytes() + bytes(-one.nbytes % _ALIGNMENT)
        numbers.append(padded)
        start += len(padded)
    header = b"".join(head)
    path.write_bytes(header + bytes(-len(header) % _ALIGNMENT) + b"".join(numbers))
    return path


def _keys(context: int) -> list[bytes]:
    words = {
        "llama.context_length": context,
        "llama.embedding_length": model.HIDDEN,
        "llama.block_count": model.LAYERS,
        "llama.feed_forward_length": model.INNER,
        "llama.attention.head_count": model.SUFFIX,
        "llama.attention.head_count_kv": 1,
        "llama.attention.key_length": model.HEAD,
        "llama.attention.value_length": model.HEAD,
        "llama.rope.dimension_count": model.HEAD,
        "llama.vocab_size": model.VOCABULARY,
        "tokenizer.ggml.bos_token_id": 256,
        "tokenizer.ggml.eos_token_id": 257,
    }
    texts = {
        "general.architecture": "llama",
        "general.name": "recites",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.chat_template": model.CHAT_TEMPLATE,
    }
    letters = model.byte_letters()
    tokens = [letters[byte] for byte in range(256)] + [f"<|{number}|>" for number in range(256, model.VOCABULARY)]
    kinds = [_NORMAL] * 256 + [_CONTROL] * 2 + [_UNUSED] * (model.VOCABULARY - 258)
    never = f"{letters[0]} {letters[0]}"  # a list of merges must be there, and none may happen
    return [
        *(_key(name, _TEXT, _text(said)) for name, said in texts.items()),
        *(_key(name, _WORD, struct.pack("<I", number)) for name, number in words.items()),
        _key("llama.attention.layer_norm_rms_epsilon", _FLOAT, struct.pack("<f", 1e-6)),
        _key("llama.rope.freq_base", _FLOAT, struct.pack("<f", model.THETA)),
        _key("tokenizer.ggml.add_bos_token", _BOOL, b"\0"),
        _key("tokenizer.ggml.tokens", _LIST, _list(_TEXT, [_text(token) for token in tokens])),
        _key("tokenizer.ggml.token_type", _LIST, _list(_INT, [struct.pack("<i", kind) for kind in kinds])),
        _key("tokenizer.ggml.merges", _LIST, _list(_TEXT, [_text(never)])),
    ]


def _key(name: str, kind: int, value: bytes) -> bytes:
    return _text(name) + struct.pack("<I", kind) + value


def _text(said: str) -> bytes:
    data = said.encode()
    return struct.pack("<Q", len(data)) + data


def _list(kind: int, values: Sequence[bytes]) -> bytes:
    return struct.pack("<IQ", kind, len(values)) + b"".join(values)


def _renamed(name: str) -> str:
    whole = {
        "model.embed_tokens.weight": "token_embd.weight",
        "lm_head.weight": "output.weight",
        "model.norm.weight": "output_norm.weight",
    }
    if name in whole:
        return whole[name]
    _, _, layer, inner = name.split(".", 3)
    return f"blk.{layer}.{_NAMES[inner.removesuffix('.weight')]}.weight"


def _paired(name: str, one: np.ndarray) -> np.ndarray:
    """A pair that turns together stands side by side here; Hugging Face's halves hold one of each."""
    if not name.endswith(("q_proj.weight", "k_proj.weight")):
        return one
    heads = len(one) // model.HEAD
    halves = one.reshape(heads, 2, model.HEAD // 2, model.HIDDEN)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(one.shape))
