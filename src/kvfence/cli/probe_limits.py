"""What a probe may spend, from its options: budgets, a pace, and prices given or looked up in a file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeGuard

from kvfence.errors import UsageError
from kvfence.probe.limits import Limits, Prices


def limits_from(*, tokens: int | None, usd: float | None, per_second: float | None, prices: Prices | None) -> Limits:
    """The limits. Raises `UsageError` for a budget of money without prices."""
    if usd is not None and prices is None:
        raise UsageError("--budget-usd needs prices: give --price-in and --price-out, or --prices with --model")
    return Limits(tokens=tokens, usd=usd, prices=prices, requests_per_s=per_second)


def prices_from(
    price_in: float | None, price_out: float | None, *, file: Path | None, model: str | None
) -> Prices | None:
    """The prices that were given, else the model's in the file; None without any. Raises `UsageError`."""
    if price_in is not None and price_out is not None:
        return Prices(per_million_in=price_in, per_million_out=price_out)
    if price_out is not None:
        raise UsageError("--price-out without --price-in: give both, for a million tokens each")
    if price_in is not None:
        raise UsageError("--price-in without --price-out: give both, for a million tokens each")
    return _looked_up(file, model) if file else None


def _looked_up(file: Path, model: str | None) -> Prices:
    if model is None:
        raise UsageError("--prices needs --model, to know whose prices to take")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"--prices {file}: cannot be read as TOML: {error}") from error
    row = table.get(model)
    if not isinstance(row, dict):
        raise UsageError(f'--prices {file}: it has no table ["{model}"]; it has {", ".join(table) or "none"}')
    into, out = row.get("in"), row.get("out")
    if not (_is_price(into) and _is_price(out)):
        raise UsageError(f'--prices {file}: ["{model}"] needs numbers `in` and `out`, dollars for a million tokens')
    return Prices(per_million_in=float(into), per_million_out=float(out))


def _is_price(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
