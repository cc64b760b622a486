"""Files that other programs put together before anything starts: kustomize, compose. We do not, and say what does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kvfence.facts.launch.places import Places
from kvfence.facts.launch.yaml_tree import Mapping, Value

_CHANGES = frozenset(
    {
        "patches",
        "patchesStrategicMerge",
        "patchesJson6902",
        "configMapGenerator",
        "replacements",
        "images",
        "components",
    }
    | {"namePrefix", "nameSuffix", "namespace", "replicas", "helmCharts", "transformers", "generators"}
)
_KUSTOMIZATION = re.compile(r"(?:^|/)kustomization\.ya?ml$")
_OVERRIDE = re.compile(r"(?:^|/)(?:docker-)?compose\.override\.ya?ml$")


def changed_elsewhere(roots: Sequence[Value], places: Places) -> Iterator[str]:
    """What of a file is not what runs, and how to get that."""
    if _OVERRIDE.search(places.home):
        yield "compose puts it over the file beside it; give what both make: docker compose config | kvfence audit -"
    for root in roots:
        if not isinstance(root, Mapping):
            continue
        if root.text("kind") == "Kustomization" or _KUSTOMIZATION.search(places.home):
            changes = [key for key in root.values if key in _CHANGES]
            if changes:
                yield (
                    f"kustomize changes what the files say ({', '.join(changes)}); "
                    "give what it makes of them: kubectl kustomize FOLDER | kvfence audit -"
                )
        for name, service in root.mapping("services").values.items():
            if isinstance(service, Mapping) and (extended := service.keys.get("extends")):
                yield (
                    f"{places.told(extended.line)}: service {name} extends another, which is not followed; "
                    "give what comes of it: docker compose config | kvfence audit -"
                )
