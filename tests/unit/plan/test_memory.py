"""What memory holds beside the numbers of a checkpoint: segments of an allocator, tables, contexts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.plan import tensors
from kvfence.plan.allocator import LARGE_SEGMENT, MIB, SIMULATED_MAX, SMALL_SEGMENT, reserved
from kvfence.plan.cache import Keeps
from kvfence.plan.gpus import table
from kvfence.plan.parameters import count
from kvfence.plan.predict import Model, kept_by
from kvfence.plan.quantisation import weight_bytes
from kvfence.plan.reserves import MEASURED, Links, links_of, taken_at_start
from kvfence.plan.setting import Engine, KvDtype
from kvfence.plan.weights import GIB, padding, weights_of
from support.plan_cases import cases
from support.plan_models import NAMES, config_of, config_with, setting_of


@pytest.mark.parametrize(
    ("sizes", "taken"),
    [
        ([], 0),
        ([1], SMALL_SEGMENT),
        ([MIB, MIB], SMALL_SEGMENT),
        ([MIB, MIB, 1], 2 * SMALL_SEGMENT),
        ([9 * MIB, 8 * MIB], LARGE_SEGMENT),
        ([9 * MIB, 8 * MIB, 4 * MIB], 2 * LARGE_SEGMENT),
        ([11 * MIB], 12 * MIB),
        ([12 * MIB], 12 * MIB),
    ],
)
def test_an_allocator_takes_whole_segments(sizes, taken):
    """The sizes and the steps of PyTorch's caching allocator."""
    assert reserved(sizes) == taken


@given(st.lists(st.integers(1, 64 * MIB), max_size=60))
def test_what_is_reserved_holds_the_tensors_and_little_more(sizes):
    """Never less than asked for; a step for a large tensor, a segment for a small one."""
    taken = reserved(sizes)
    assert sum(sizes) <= taken <= sum(sizes) + len(sizes) * LARGE_SEGMENT


def test_layers_without_number_are_not_laid_out_one_by_one():
    """The rest is like the first ones."""
    assert reserved([11 * MIB] * (4 * SIMULATED_MAX)) == 12 * MIB * 4 * SIMULATED_MAX


@pytest.mark.parametrize("name", NAMES)
def test_the_tensors_of_one_gpu_are_the_model(name):
    """Two counts of the same weights: by kind and by tensor; the vision part and norms are in neither or one."""
    config, setting = config_of(name), setting_of(tp=1)
    sizes = weight_bytes(config)
    kinds = count(config)
    whole = (kinds.attention + kinds.replicated) * sizes.attention + kinds.embedding * sizes.plain
    whole += (kinds.experts + kinds.dense) * sizes.feed_forward
    found = sum(tensors.of_layers(config, setting, sizes)) + sum(tensors.of_tables(config, setting, sizes))
    assert found == pytest.approx(whole, rel=0.1 if config.part("vision_config") else 0.02)


@pytest.mark.parametrize(
    ("name", "changed", "logged"),
    [
        ("qwq-32b", {"tp": 4, "gpu": "a10g"}, 15.54),
        ("qwen3-32b", {"tp": 4, "gpu": "b200"}, 15.50),
    ],
)
def test_weights_are_what_a_log_says_that_they_take(name, changed, logged):
    """SGLang's `mem usage`, to its last digit: files, rounding of the allocator, and the table of positions."""
    assert weights_of(config_of(name), setting_of(**changed)).likely / GIB == pytest.approx(logged, abs=0.01)


def test_a_gpu_has_less_for_cuda_than_the_driver_says():
    """And low, likely and high are in order."""
    for gpu in table().values():
        low, likely, high = gpu.cuda_bytes
        assert 0.9 * gpu.memory_bytes < low <= likely <= high <= gpu.memory_bytes


def test_what_is_taken_at_start_was_not_read_from_what_it_predicts():
    """A figure from a thread that is predicted from its config alone would be a fit."""
    predicted = {case["source"] for case in cases() if case.get("config_alone")}
    assert len(predicted) >= 7
    for found in MEASURED.values():
        assert found.low <= found.likely <= found.high
        assert not any(source.split()[0] in found.source for source in predicted)


def test_links_decide_what_communicators_take():
    """None alone, little over PCIe, most between many with NVLink."""
    settings = [setting_of(), setting_of(gpu="rtx4090", tp=2), setting_of(tp=2), setting_of(tp=8)]
    assert [links_of(setting) for setting in settings] == list(Links)
    likely = [taken_at_start(setting).likely for setting in settings]
    assert likely == sorted(likely)


def test_a_drafts_own_tables_and_its_layer_are_what_a_thread_measured():
    """sgl-project/sglang#32468: without the two tables, which are 2.37 GiB, the pool is 146,251 tokens larger."""
    config, plain = config_of("qwen3.6-27b"), setting_of(gpu="rtx3090", tp=2, kv_dtype=KvDtype.FP8_E4M3)
    drafting = replace(plain, draft_layers=1)
    tables = sum(tensors.beside(config, drafting)) - sum(tensors.beside(config, plain))
    assert tables / GIB == pytest.approx(2.37, abs=0.01)
    token = kept_by(Model(config=config), drafting).token_bytes(Keeps.FULL)
    assert tables / token == pytest.approx(146_251, rel=0.005)


def test_vllm_shares_a_drafts_tables_before_it_measures():
    """Its logs say so before the profile run (noonghunna/club-3090#232)."""
    config, plain = config_of("qwen3.6-27b"), setting_of(Engine.VLLM, tp=2)
    assert list(tensors.beside(config, replace(plain, draft_layers=1))) == list(tensors.beside(config, plain))


@pytest.mark.parametrize(
    ("declared", "each"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 64}, 0.5 + 2 / 64),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 32}, 0.5 + 2 / 32),
        ({"quant_method": "gptq", "bits": 4}, 0.5 + 2 / 128),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, 0.5 + 2 / 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": 32}, 1.0),
    ],
)
def test_a_config_says_how_many_weights_share_a_scale(declared, each):
    """128 where it says nothing, or that a whole column shares one, which is counted with the rest's roundings."""
    assert weight_bytes(config_with("qwen3-32b", quantization_config=declared)).feed_forward == each


def test_a_group_of_weights_in_a_compressed_config_says_it_too():
    """Kimi-K2.5: a scale for each 32, attention and embeddings as they are."""
    sizes = weight_bytes(config_of("kimi-k2.5"))
    assert (sizes.plain, sizes.attention, sizes.feed_forward) == (2.0, 2.0, 0.5 + 2 / 32)


def test_vllm_makes_mxfp4_experts_as_wide_as_its_kernels_take_them():
    """vllm-project/vllm#23278 logs 65.9651 GiB for gpt-oss-120b on one H100; SGLang keeps the file's widths."""
    config = config_of("gpt-oss-120b")
    vllm = setting_of(Engine.VLLM, "h100", tp=1)
    assert weights_of(config, vllm).likely / GIB == pytest.approx(65.9651, abs=0.1)
    assert padding(config, vllm, weight_bytes(config)) == 2944 * 3072 / 2880**2
    assert padding(config, setting_of(Engine.VLLM, "h100", tp=2), weight_bytes(config)) == 1536 * 3072 / (1440 * 2880)
    assert padding(config, setting_of(Engine.SGLANG, "h100", tp=1), weight_bytes(config)) == 1.0
    plain = config_of("qwen3-235b-a22b-fp8")
    assert padding(plain, vllm, weight_bytes(plain)) == 1.0
