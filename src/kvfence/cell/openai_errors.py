"""Errors in OpenAI's shape."""

from __future__ import annotations

import msgspec
from starlette.responses import JSONResponse

from kvfence.cell.asks import STOPPING, Faulted, Refused

JsonObject = dict[str, object]


class ApiError(Exception):
    """An answer other than 200."""

    def __init__(
        self, status: int, message: str, *, param: str | None = None, code: str | None = None, kind: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body: JsonObject = {
            "error": {
                "message": message,
                "type": kind or ("invalid_request_error" if status < 500 else "server_error"),  # noqa: PLR2004 — HTTP
                "param": param,
                "code": code,
            }
        }

    def response(self) -> JSONResponse:
        """As an HTTP response."""
        return JSONResponse(self.body, status_code=self.status)

    def event(self) -> bytes:
        """As an event of a stream that has begun."""
        return b"data: " + msgspec.json.encode(self.body) + b"\n\n"


def refusal(refused: Refused, field: str, *, limit_named: bool = True) -> ApiError:
    """The 4xx that names both figures and the gate (I7), and the `field` of the body that is too long."""
    new = refused.asked_tokens - refused.prompt_tokens
    more = f" and {new} new ones were asked for" if limit_named else ", and an answer needs at least one more"
    asked = f"{refused.prompt_tokens} tokens" + (more if new > 0 else "")
    return ApiError(
        400,
        f"This model's usable length is {refused.usable_tokens} tokens, but the prompt has {asked}. "
        f"Refused by {refused.gate}, before anything was reserved.",
        param=field,
        code="context_length_exceeded",
    )


def fault(faulted: Faulted) -> ApiError:
    """The 5xx that says which check failed (I8), or that the server is stopping."""
    if faulted.check == STOPPING.check:
        return ApiError(503, f"{faulted.message}; ask again later", code=faulted.check)
    status = 503 if faulted.check == "worker-lost" else 500
    return ApiError(status, f"The request was ended by a check: {faulted.message}", code=faulted.check)
