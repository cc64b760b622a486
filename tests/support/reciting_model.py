"""A model that recites, as a checkpoint that real engines load: an induction head made by hand in a small Llama.

The first layer's heads each bring one of the last 8 bytes to where they stand; the second layer's attends to the place
that the same 8 bytes came before, the latest of several, and its value is the byte there. So a canary comes back from
any depth, and an engine whose page table reaches somebody else's pages recites that one's text: the attention reads it.
Tokens are bytes. Made for the full precision of float32.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

SUFFIX = 8
CODE = 16
"""Signs that stand for one byte; any two bytes differ in five or more of them."""
VOCABULARY = 320
HIDDEN = 192
HEAD = 256
LAYERS = 2
INNER = 64
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
THETA = 1e12
"""So wide that half of a head's pairs do not turn within a context, and content can be compared in them."""
_OUT = (SUFFIX + 1) * CODE
_CONST = _OUT + CODE
_CONST_VALUE = 4.0
_PLACE_PAIRS = 31
_PLACE_WEIGHT = 15.0
"""A head misses its own offset by one for exp(-20) of its attention."""
_MATCH_WEIGHT = 12.0
_LATEST_PAIR = 40
_LATEST_WEIGHT = 140.0
"""Over 4,096 tokens less than one wrong byte costs, over 40 tokens enough that the latest of two leads."""
_SHARPNESS = 4.0

Weights = dict[str, np.ndarray]


def write_checkpoint(folder: Path, *, context: int) -> Path:
    """The model as Hugging Face's libraries and the engines read it; at most 4,096 tokens of context."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(_config(context)), "utf-8")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 257, "bos_token_id": 256}), "utf-8")
    (folder / "tokenizer.json").write_text(json.dumps(_TOKENIZER), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(_TOKENIZER_CONFIG), "utf-8")
    (folder / "model.safetensors").write_bytes(_safetensors(weights()))
    return folder


def weights() -> Weights:
    """Every tensor by Llama's name of it, float32."""
    codes = byte_codes()
    embedding = np.zeros((VOCABULARY, HIDDEN), np.float32)
    embedding[:256, :CODE] = codes
    embedding[:, _CONST] = _CONST_VALUE
    head = np.zeros((VOCABULARY, HIDDEN), np.float32)
    head[:256, _OUT:_CONST] = _SHARPNESS * codes
    made = {"model.embed_tokens.weight": embedding, "lm_head.weight": head, "model.norm.weight": np.ones(HIDDEN)}
    for layer, attention in enumerate((_gather(), _recall())):
        made |= {f"model.layers.{layer}.self_attn.{name}_proj.weight": one for name, one in attention.items()}
        made |= {f"model.layers.{layer}.{name}_layernorm.weight": np.ones(HIDDEN) for name in _NORMS}
        for name, shape in (("gate", (INNER, HIDDEN)), ("up", (INNER, HIDDEN)), ("down", (HIDDEN, INNER))):
            made[f"model.layers.{layer}.mlp.{name}_proj.weight"] = np.zeros(shape)
    return {name: np.ascontiguousarray(one, dtype="<f4") for name, one in made.items()}


def byte_codes() -> np.ndarray:
    """(256, 16) signs: the first words, in rising order, that are five apart from all before."""
    words: list[int] = []
    for word in range(2**CODE):
        if all((word ^ other).bit_count() >= 5 for other in words):
            words.append(word)
        if len(words) == 256:
            break
    return np.array([[1 - 2 * (word >> bit & 1) for bit in range(CODE)] for word in words], np.float32)


def _gather() -> Weights:
    """Head h attends to h + 1 tokens back and writes the code there into slot h + 1."""
    norm = np.sqrt((CODE + _CONST_VALUE**2) / HIDDEN)  # of what the embedding is; the same for every byte
    made = _no_attention()
    turn = THETA ** (-np.arange(_PLACE_PAIRS) * 2 / HEAD)
    size = np.sqrt(_PLACE_WEIGHT * np.sqrt(HEAD)) * norm / _CONST_VALUE
    made["k"][:_PLACE_PAIRS, _CONST] = size
    for head in range(SUFFIX):
        back = (head + 1) * turn
        made["q"][head * HEAD : head * HEAD + _PLACE_PAIRS, _CONST] = size * np.cos(back)
        made["q"][head * HEAD + HEAD // 2 : head * HEAD + HEAD // 2 + _PLACE_PAIRS, _CONST] = -size * np.sin(back)
        slot = CODE * (head + 1)
        made["o"][slot : slot + CODE, head * HEAD : head * HEAD + CODE] = np.eye(CODE)
    made["v"][:CODE, :CODE] = norm * np.eye(CODE)
    return made


def _recall() -> Weights:
    """The first head attends to the latest place that the last 8 bytes came before, and writes out what is there."""
    norm = np.sqrt((CODE * (SUFFIX + 1) + _CONST_VALUE**2) / HIDDEN)
    made = _no_attention()
    still = [*range(HEAD // 4, HEAD // 2), *range(3 * HEAD // 4, HEAD)]  # the pairs that do not turn
    size = norm * np.sqrt(_MATCH_WEIGHT * np.sqrt(HEAD))
    for at, dim in enumerate(still):
        made["q"][dim, at] = made["k"][dim, at + CODE] = size
    late = np.sqrt(_LATEST_WEIGHT * np.sqrt(HEAD)) * norm / _CONST_VALUE
    made["k"][_LATEST_PAIR, _CONST] = made["q"][_LATEST_PAIR + HEAD // 2, _CONST] = late
    made["v"][:CODE, :CODE] = norm * np.eye(CODE)
    made["o"][_OUT:_CONST, :CODE] = np.eye(CODE)
    return made


def _no_attention() -> Weights:
    shapes = {"q": (SUFFIX * HEAD, HIDDEN), "k": (HEAD, HIDDEN), "v": (HEAD, HIDDEN), "o": (HIDDEN, SUFFIX * HEAD)}
    return {name: np.zeros(shape) for name, shape in shapes.items()}


_NORMS = ("input", "post_attention")


def _safetensors(tensors: Weights) -> bytes:
    """The file format: a header of names, types, shapes and places, then the numbers."""
    places, start = {}, 0
    for name, one in tensors.items():
        places[name] = {"dtype": "F32", "shape": list(one.shape), "data_offsets": [start, start + one.nbytes]}
        start += one.nbytes
    header = json.dumps({"__metadata__": {"format": "pt"}, **places}).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + b"".join(one.tobytes() for one in tensors.values())


def _config(context: int) -> dict[str, object]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": SUFFIX,
        "num_key_value_heads": 1,
        "head_dim": HEAD,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": context,
        "rms_norm_eps": 1e-06,
        "rope_theta": THETA,
        "hidden_act": "silu",
        "bos_token_id": 256,
        "eos_token_id": 257,
        "torch_dtype": "float32",
        "tie_word_embeddings": False,
    }


def byte_letters() -> dict[int, str]:
    """The letter that stands for each byte in byte-level vocabularies: itself where it can be seen."""
    seen = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + at) for at, byte in enumerate(unseen)}


_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
_TOKENIZER = {
    "version": "1.0",
    "added_tokens": [
        {
            "id": number,
            "content": text,
            "special": True,
            **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False),
        }
        for number, text in ((256, "<|begin|>"), (257, "<|end|>"))
    ],
    "pre_tokenizer": _BYTE_LEVEL,
    "decoder": _BYTE_LEVEL,
    "model": {
        "type": "BPE",
        "vocab": {letter: byte for byte, letter in byte_letters().items()} | {"<|begin|>": 256, "<|end|>": 257},
        "merges": [],
    },
}
_TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": "<|begin|>",
    "eos_token": "<|end|>",
    "clean_up_tokenization_spaces": False,
    "chat_template": CHAT_TEMPLATE,
}
