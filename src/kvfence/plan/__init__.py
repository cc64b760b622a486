"""How many tokens a KV pool will hold, before anything is launched, and what to change where that is too few."""

from kvfence.plan.fit import Need
from kvfence.plan.gpus import gpu_of
from kvfence.plan.model_config import read
from kvfence.plan.planning import plan
from kvfence.plan.predict import Model
from kvfence.plan.setting import Engine, KvDtype, Measured, Role, Setting, release_of

__all__ = ["Engine", "KvDtype", "Measured", "Model", "Need", "Role", "Setting", "gpu_of", "plan", "read", "release_of"]
