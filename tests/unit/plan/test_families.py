import pytest

from kvfence.errors import UsageError
from kvfence.plan.cache import Keeps
from kvfence.plan.family import cache_of
from kvfence.plan.model_config import parse
from kvfence.plan.parameters import count
from kvfence.plan.setting import Engine, KvDtype
from support.plan_models import config_of, config_with, setting_of

SGLANG, VLLM = Engine.SGLANG, Engine.VLLM


@pytest.mark.parametrize(
    ("name", "tp", "dtype", "family", "full_bytes"),
    [
        ("llama-3.1-8b", 1, KvDtype.BF16, "MHA/GQA", 131072),
        ("llama-3.1-8b", 4, KvDtype.FP8_E4M3, "MHA/GQA", 16384),
        ("qwq-32b", 4, KvDtype.AUTO, "MHA/GQA", 65536),
        ("qwen3-235b-a22b-fp8", 4, KvDtype.BF16, "MHA/GQA", 48128),
        ("qwen3-235b-a22b-fp8", 8, KvDtype.BF16, "MHA/GQA", 48128),
        ("deepseek-v3", 1, KvDtype.BF16, "MLA", 70272),
        ("deepseek-v3", 8, KvDtype.BF16, "MLA", 70272),
        ("deepseek-v3.2-exp", 8, KvDtype.BF16, "DSA", 61 * (1152 + 132)),
        ("deepseek-v3.2-exp", 8, KvDtype.FP8_E4M3, "DSA", 61 * (656 + 132)),
        ("mimo-v2-flash", 4, KvDtype.BF16, "hybrid sliding window", 9 * 320 * 2),
        ("gpt-oss-120b", 2, KvDtype.BF16, "hybrid sliding window", 18 * 4 * 128 * 2),
        ("qwen3-next-80b-a3b", 2, KvDtype.BF16, "linear/Mamba hybrid", 12 * 512 * 2),
    ],
)
def test_a_token_costs_what_its_family_keeps_of_it(name, tp, dtype, family, full_bytes):
    """Figures by hand, from the formulas that the engines use; a GPU keeps one KV head at least."""
    cache = cache_of(config_of(name), setting_of(tp=tp, kv_dtype=dtype))
    assert (family, full_bytes) == (cache.family, cache.token_bytes(Keeps.FULL))


def test_sparse_attention_on_blackwell_keeps_raw_numbers_in_sglang():
    """Its default kernels there take no scales; vLLM's layout has them everywhere."""
    config = config_of("deepseek-v3.2-exp")
    found = [
        cache_of(config, setting_of(engine, "b200", kv_dtype=KvDtype.FP8_E4M3)).token_bytes(Keeps.FULL)
        for engine in (SGLANG, VLLM)
    ]
    assert found == [61 * (576 + 132), 61 * (656 + 132)]


@pytest.mark.parametrize(
    ("values", "indexers"),
    [
        ({}, 61),
        ({"index_topk_pattern": "FS" * 30 + "F"}, 31),
        ({"indexer_types": ["full", "shared", "shared"] * 20 + ["full"]}, 21),
        ({"index_topk_freq": 4}, 16),
        ({"cli_factor": 2}, 31),
    ],
)
def test_layers_that_share_their_top_k_keep_no_key_of_an_indexer(values, indexers):
    """In SGLang; vLLM keeps one in each."""
    config = config_with("deepseek-v3.2-exp", **values)
    for engine, expected in ((SGLANG, indexers), (VLLM, 61)):
        *_, indexer = cache_of(config, setting_of(engine)).layers
        assert ("indexer", expected) == (indexer.name, indexer.count)


def test_a_window_has_heads_of_its_own():
    """MiMo's layers with a window have twice the KV heads; sizes in sgl-project/sglang#18039 agree."""
    cache = cache_of(config_of("mimo-v2-flash"), setting_of(tp=4))
    assert (cache.token_bytes(Keeps.WINDOW), cache.window) == (39 * 2 * 320 * 2, 128)


@pytest.mark.parametrize("change", [{"hybrid": False}, {}])
def test_a_window_that_the_engine_keeps_in_full_is_counted_in_full(change):
    """Told not to be hybrid, or not among SGLang's architectures with two pools; and the plan says so."""
    config = config_of("gpt-oss-120b") if change else config_with("gpt-oss-120b", architectures=["OtherForCausalLM"])
    cache = cache_of(config, setting_of(tp=2, **change))
    assert (cache.token_bytes(Keeps.FULL), cache.token_bytes(Keeps.WINDOW)) == (36 * 4 * 128 * 2, 0)
    assert "every token" in cache.notes[0]


def test_a_gated_delta_net_keeps_a_convolution_and_a_square_state():
    """Qwen3-Next on two GPUs: (8192 x 3 x 2 bytes + 32 x 128 x 128 x 4 bytes) / 2 in each of 36 layers."""
    cache = cache_of(config_of("qwen3-next-80b-a3b"), setting_of(tp=2))
    assert cache.state_bytes == 36 * (8192 * 3 * 2 + 32 * 128 * 128 * 4) // 2


def test_mamba_layers_are_counted_by_the_pattern():
    """Nemotron-H's text of kinds: M has a state, * attention, - and E neither."""
    config = parse(
        {
            "architectures": ["NemotronHForCausalLM"],
            "hidden_size": 4096,
            "num_hidden_layers": 6,
            "hybrid_override_pattern": "M-M*-M",
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "mamba_num_heads": 128,
            "mamba_head_dim": 64,
            "ssm_state_size": 128,
            "n_groups": 8,
            "conv_kernel": 4,
        },
        "nemotron",
    )
    full, state = cache_of(config, setting_of(tp=2)).layers
    assert (full.count, full.token_bytes) == (1, 2 * 4 * 128 * 2)
    assert (state.count, state.state_bytes) == (3, ((8192 + 2048) * 3 * 2 + 8192 * 128 * 4) // 2)


@pytest.mark.parametrize("name", ["deepseek-v3", "deepseek-v3.2-exp"])
def test_a_builtin_draft_costs_a_layer_more(name):
    """Its indexer included."""
    config = config_of(name)
    plain, drafting = (cache_of(config, setting_of(draft_layers=number)).token_bytes(Keeps.FULL) for number in (0, 2))
    assert plain * 63 == drafting * 61


def test_a_nested_language_model_is_read():
    """Multimodal configs keep it in `text_config`; what is only outside is read too."""
    inner = dict(config_of("llama-3.1-8b").outer)
    outer = {"architectures": ["LlavaForConditionalGeneration"], "text_config": inner, "vision_config": {}}
    setting = setting_of()
    assert cache_of(config_of("llama-3.1-8b"), setting) == cache_of(parse(outer, "x"), setting)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"compress_ratios": [4, 128]}, "compress_ratios"),
        ({"is_encoder_decoder": True}, "encoder"),
        ({"num_attention_heads": None}, "no attention heads"),
        ({"layer_types": ["moving_average"] * 32}, "moving_average"),
        ({"num_key_value_heads": "eight"}, "num_key_value_heads"),
        ({"num_key_value_heads": -8}, "num_key_value_heads"),
        ({"num_hidden_layers": 1e300}, "num_hidden_layers"),
        ({"num_hidden_layers": True}, "num_hidden_layers"),
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": 4097}, "head_dim"),
    ],
)
def test_what_cannot_be_counted_is_refused_by_name(values, word):
    """An unknown way to keep tokens, a value that is none: the message names it, and nothing is guessed."""
    with pytest.raises(UsageError, match=word):
        cache_of(config_with("llama-3.1-8b", **values), setting_of())


@pytest.mark.parametrize(("tp", "fits"), [(1, True), (8, True), (16, True), (3, False), (64, False)])
def test_heads_that_cannot_be_split_are_refused(tp, fits):
    """As the engine would: 32 heads and 8 KV heads."""
    setting = setting_of(tp=tp, nodes=8)
    if fits:
        assert cache_of(config_of("llama-3.1-8b"), setting)
    else:
        with pytest.raises(UsageError, match="cannot be split"):
            cache_of(config_of("llama-3.1-8b"), setting)


CARDS = {
    "deepseek-v3": 671.0,
    "deepseek-v3.2-exp": 671.0,
    "gpt-oss-120b": 116.8,
    "gpt-oss-20b": 20.9,
    "llama-3.1-8b": 8.03,
    "mimo-v2-flash": 309.0,
    "qwen3-235b-a22b-fp8": 235.1,
    "qwen3-30b-a3b": 30.5,
    "qwen3-next-80b-a3b": 79.7,
    "qwen3.5-397b-a17b": 397.0,
    "qwen3.6-27b": 27.0,
    "qwen3.6-35b-a3b": 35.0,
    "qwq-32b": 32.8,
}
"""Thousands of millions, as the models' cards and names have them."""


@pytest.mark.parametrize("name", CARDS)
def test_parameters_are_counted_as_the_model_card_has_them(name):
    """Within one percent of the public figures, or as near as a name's whole thousands of millions say."""
    rounded = 0.5 if CARDS[name].is_integer() else 0.0
    assert count(config_of(name)).served / 1e9 == pytest.approx(CARDS[name], rel=0.01, abs=rounded)


def test_a_draft_widens_the_states_convolution_in_vllm_only():
    """A log has it: blocks of 1568 tokens without a draft, 1600 with three guessed tokens on two GPUs."""
    config = config_of("qwen3.6-27b")
    states = [cache_of(config, setting_of(engine, tp=2, draft_tokens=3)).state_bytes // 48 for engine in (SGLANG, VLLM)]
    assert states == [24 * 128 * 128 * 4 + 5120 * taps * 2 for taps in (3, 6)]
