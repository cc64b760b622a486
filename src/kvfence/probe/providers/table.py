"""One table of a TOML file, read field by field: what is wrong is one line with file, table and field. No I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kvfence.errors import UsageError


@dataclass(frozen=True, slots=True)
class Table:
    """A table and where it stands. A field is asked for once; what nobody asked for is unknown."""

    where: str
    """File and table, as an error begins."""
    rows: Mapping[str, object]
    _asked: set[str] = field(default_factory=set, init=False)

    def wrong(self, name: str, why: str) -> UsageError:
        """An error about one field."""
        return UsageError(f"{self.where}: {name}: {why}")

    def text(self, name: str) -> str | None:
        """A text that is not empty, or None where there is no such field."""
        value = self._take(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(name, "must be a text")
        return value

    def whole(self, name: str, least: int, most: int) -> int | None:
        """A whole number within bounds."""
        value = self._take(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most):
            raise self.wrong(name, f"must be a whole number from {least:,} to {most:,}")
        return value

    def number(self, name: str, least: float, most: float) -> float | None:
        """A number within bounds."""
        value = self._take(name)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise self.wrong(name, f"must be a number from {least:g} to {most:g}")
        return float(value)

    def truth(self, name: str) -> bool:
        """False where there is no such field."""
        value = self._take(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "must be true or false")
        return bool(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; none where there is no such field."""
        value = self._take(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise self.wrong(name, "must be a list of texts")
        return tuple(value)

    def text_by_name(self, name: str) -> dict[str, str]:
        """A table of texts; empty where there is no such field."""
        value = self.by_name(name)
        for key, one in value.items():
            if not isinstance(one, str):
                raise self.wrong(f"{name}.{key}", "must be a text")
        return {key: one for key, one in value.items() if isinstance(one, str)}

    def by_name(self, name: str) -> dict[str, object]:
        """A table of anything that JSON can say; empty where there is no such field."""
        value = self._take(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(name, "must be a table")
        for path, one in leaves(value, name):
            is_json = isinstance(one, str | int) or (isinstance(one, float) and math.isfinite(one))
            if not is_json:
                raise self.wrong(path, "must be a text, a finite number, true or false, for it is sent as JSON")
        return value

    def tables(self, name: str) -> list[Table]:
        """The tables of a list, each with its place."""
        value = self._take(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.wrong(name, f"must be tables, each begun with [[{name}]]")
        return [Table(f"{self.where}: [[{name}]] {number}", one) for number, one in enumerate(value, start=1)]

    def needed(self, name: str) -> str:
        """A text that must be there."""
        value = self.text(name)
        if value is None:
            raise self.wrong(name, "is missing")
        return value

    def end(self) -> None:
        """All has been asked for. Raises `UsageError` where something was not."""
        for name in self.rows:
            if name not in self._asked:
                raise self.wrong(name, f"there is no such field here; there are {', '.join(sorted(self._asked))}")

    def _take(self, name: str) -> object:
        self._asked.add(name)
        return self.rows.get(name)


def leaves(value: object, path: str) -> Iterable[tuple[str, object]]:
    """What stands at the ends of nested tables and lists, each with its path."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}")
    elif isinstance(value, list):
        for number, one in enumerate(value, start=1):
            yield from leaves(one, f"{path}[{number}]")
    else:
        yield path, value
