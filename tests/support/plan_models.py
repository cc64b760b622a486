"""Configs of public models for tests of plans, and a setting to start from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kvfence.plan.gpus import gpu_of
from kvfence.plan.model_config import ModelConfig, document, parse, read
from kvfence.plan.setting import Engine, Setting
from support.source_tree import ROOT

MODELS = ROOT / "tests" / "corpus" / "plan" / "models"
NAMES = tuple(sorted(file.stem for file in MODELS.glob("*.json")))


def config_of(name: str) -> ModelConfig:
    return read(str(MODELS / f"{name}.json"))


def config_with(name: str, **changed: Any) -> ModelConfig:
    """The same with other values; None takes one away."""
    return parse({**document(MODELS / f"{name}.json"), **changed}, f"{name}.json")


def setting_of(engine: Engine = Engine.SGLANG, gpu: str = "h200", **changed: Any) -> Setting:
    return replace(Setting(engine=engine, gpu=gpu_of(gpu)), **changed)
