"""What both clients share: URLs, queries, headers and errors."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from papertape.errors import ApiError, UnavailableError, api_error

DEFAULT_URL = "http://127.0.0.1:8080"
URL_VARIABLE = "PAPERTAPE_URL"
TOKEN_VARIABLE = "PAPERTAPE_TOKEN"  # noqa: S105 - the name of a variable


def quoted(part: object) -> str:
    """A part of a path."""
    return quote(str(part), safe="")


def base_url(url: str | None) -> str:
    return (url or os.environ.get(URL_VARIABLE) or DEFAULT_URL).rstrip("/")


def headers(token: str | None) -> dict[str, str]:
    token = token or os.environ.get(TOKEN_VARIABLE)
    return {"Authorization": f"Bearer {token}"} if token else {}


def parameters(query: Mapping[str, Any] | None) -> dict[str, str]:
    """The parameters of a query. What is `None` is left out."""
    return {name: _parameter(value) for name, value in (query or {}).items() if value is not None}


def _parameter(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(str(one) for one in value)
    return str(value)


def raise_for(response: httpx.Response) -> None:
    """Raises the server's sentence."""
    if response.is_success:
        return
    try:
        error = response.json()
        raise api_error(response.status_code, str(error["error"]), str(error["message"]))
    except (ValueError, KeyError, TypeError):
        # Not of Papertape: a proxy in between, or another server.
        text = " ".join(response.text.split())[:200] or response.reason_phrase
        raise ApiError(response.status_code, "http_error", text) from None


def unavailable(url: str, error: Exception) -> UnavailableError:
    return UnavailableError(
        f"{url} cannot be reached: {error or type(error).__name__}; start it with `papertape serve`"
    )


def body_of(body: object) -> dict[str, Any]:
    """The arguments of a request with a body."""
    if not body:
        return {}
    return {"content": json.dumps(body, default=str), "headers": {"Content-Type": "application/json"}}
