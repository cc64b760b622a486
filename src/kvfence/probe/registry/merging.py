"""Several registries into one: a union of rows whose ids follow from their content, so that nothing can conflict."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from kvfence.probe.registry.planted import PlantedPrompt
from kvfence.probe.registry.registry_file import RegistryFile

AT_ONCE = 5_000
"""Prompts in one transaction: a few MB of memory, and a probe that writes to the file waits for no more than that."""


def merge(sources: list[Path], out: Path) -> None:
    """Everything in `sources`, and in `out` if it is there, into `out`.

    Merged again it stays the same, in whatever order, also where an earlier merge was cut off.

    Raises:
        UsageError: one of them is no registry, or of a newer version; then `out` is as it was.
        TargetError: one of them cannot be read, or `out` not be written.
    """
    for source in sources:
        with RegistryFile(source, read_only=True):
            pass  # all are looked at before the first is written
    with RegistryFile(out) as into:
        for source in sources:
            if source.samefile(out):
                continue
            with RegistryFile(source, read_only=True) as registry:
                into.plant_all((), campaigns=list(registry.campaigns()))
                for prompts in _in_parts(registry.prompts()):
                    into.plant_all(prompts)


def _in_parts(prompts: Iterator[PlantedPrompt]) -> Iterator[list[PlantedPrompt]]:
    for first in prompts:
        yield list(islice(chain((first,), prompts), AT_ONCE))
