"""ConfigMaps as containers use them: variables, and files that are mounted. Secrets are never looked into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kvfence.facts.launch.containers import Around, documents_of
from kvfence.facts.launch.yaml_tree import Mapping, Scalar, Value


@dataclass(frozen=True, slots=True)
class ConfigMaps:
    """Those of some documents, the ones that come first before the others."""

    maps: tuple[Mapping, ...]

    @classmethod
    def of(cls, own: Sequence[Value], others: Sequence[Value] = ()) -> ConfigMaps:
        """Those of a file, and of the files beside it."""
        return cls((*documents_of(tuple(own), "ConfigMap"), *documents_of(tuple(others), "ConfigMap")))

    def held_by(self, name: str, around: Around) -> Mapping | None:
        """What the map of that name holds for a pod; None where none is there, or several differ."""
        found = [
            one
            for one in self.maps
            if one.text("metadata", "name") == name
            and (one.text("metadata", "namespace") or around.namespace) == (around.namespace or _namespace(one))
        ]
        texts = [{key: _text(value) for key, value in one.mapping("data").values.items()} for one in found]
        return found[0].mapping("data") if found and all(text == texts[0] for text in texts) else None

    def variables(self, fields: Mapping, around: Around) -> Iterator[tuple[str, Scalar]]:
        """What `envFrom` gives."""
        for source in fields.items("envFrom"):
            if isinstance(source, Mapping) and (name := source.text("configMapRef", "name")):
                data = self.held_by(name, around)
                for key, value in data.values.items() if data else ():
                    if isinstance(value, Scalar):
                        yield (source.text("prefix") or "") + key, value

    def value(self, item: Mapping, around: Around) -> Scalar | None:
        """What `valueFrom` of an entry gives."""
        name, key = (item.text("valueFrom", "configMapKeyRef", part) for part in ("name", "key"))
        data = self.held_by(name, around) if name else None
        found = data.get(key) if data and key else None
        return found if isinstance(found, Scalar) else None

    def missing(self, fields: Mapping, around: Around) -> Iterator[Scalar]:
        """The names of maps that give variables and are not there."""
        for source in fields.items("envFrom"):
            name = source.get("configMapRef", "name") if isinstance(source, Mapping) else None
            if isinstance(name, Scalar) and self.held_by(name.text, around) is None:
                yield name

    def mounted(self, fields: Mapping, around: Around) -> dict[str, Scalar]:
        """By the path that the container sees: the files that stand in a map."""
        files: dict[str, Scalar] = {}
        for mount in fields.items("volumeMounts"):
            if not isinstance(mount, Mapping):
                continue
            volume = around.volumes.get(mount.text("name") or "", Mapping())
            name, path = volume.text("configMap", "name"), mount.text("mountPath")
            data = self.held_by(name, around) if name else None
            if data is not None and path:
                files |= _files(data, volume, path.rstrip("/"), mount.text("subPath"))
        return files


def _namespace(config_map: Mapping) -> str:
    return config_map.text("metadata", "namespace") or ""


def _text(value: Value) -> str:
    return value.text if isinstance(value, Scalar) else ""


def _files(data: Mapping, volume: Mapping, path: str, sub_path: str | None) -> dict[str, Scalar]:
    items = [one for one in volume.items("configMap", "items") if isinstance(one, Mapping)]
    keys = {one.text("path") or "": one.text("key") or "" for one in items} or {key: key for key in data.values}
    files = {name: value for name, key in keys.items() if isinstance(value := data.get(key), Scalar)}
    if sub_path:
        return {path: files[sub_path]} if sub_path in files else {}
    return {f"{path}/{name}": value for name, value in files.items()}
