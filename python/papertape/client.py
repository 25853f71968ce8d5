"""Clients of a server: `Client`, and `AsyncClient` for asyncio."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx

from papertape import _http
from papertape._api import types as t
from papertape._api.async_operations import AsyncOperations
from papertape._api.operations import Operations
from papertape.errors import ApiError, UnavailableError
from papertape.stream import MAX_FAILURES, SILENCE_SECS, Event, Parser, Position

STOPPED = frozenset({"completed", "partial", "failed", "cancelled"})


class Client(Operations):
    """The API of a server, a method for each operation; see `GET /docs/` of the server for what each returns.

    `url` is `PAPERTAPE_URL` by default, else `http://127.0.0.1:8080`; `token` is `PAPERTAPE_TOKEN`. Methods raise
    `ApiError` with the server's sentence, and `UnavailableError` if it cannot be reached.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout_secs: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = _http.base_url(url)
        self._client = httpx.Client(
            base_url=self.url, headers=_http.headers(token), timeout=timeout_secs, transport=transport
        )
        # One that nobody closes leaves no connection behind.
        weakref.finalize(self, self._client.close)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections."""
        self._client.close()

    def _send(self, verb: str, path: str, query: Any, body: Any) -> httpx.Response:
        try:
            response = self._client.request(verb, path, params=_http.parameters(query), **_http.body_of(body))
        except httpx.TransportError as error:
            raise _http.unavailable(self.url, error) from error
        _http.raise_for(response)
        return response

    def _json(self, verb: str, path: str, *, query: Any = None, body: Any = None) -> Any:
        response = self._send(verb, path, query, body)
        return response.json() if response.content else None

    def _text(self, verb: str, path: str, *, query: Any = None, body: Any = None) -> str:
        return self._send(verb, path, query, body).text

    def _bytes(self, verb: str, path: str, *, query: Any = None, body: Any = None) -> bytes:
        return self._send(verb, path, query, body).content

    def pages(self, method: Callable[..., Any], rows: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Every row of a list, page after page: `client.pages(client.jobs, "jobs", status="completed")`."""
        cursor: str | None = None
        while True:
            page = method(cursor=cursor, **query)
            yield from page[rows]
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def follow(self, job_id: str, *, after: int | str | None = 0) -> Iterator[Event]:
        """The events of a job up to its end. A connection that breaks is opened again behind the last event.

        `after` is the `cursor` of an earlier event; 0 is every event from the first one on, `None` is a snapshot and
        then new events. Raises `ApiError` for an unknown job, and `UnavailableError` after five failures in a row.
        """
        position = Position(after)
        while not position.ended:
            empty = True
            try:
                for event in self._events(job_id, position):
                    empty = False
                    yield event
            except ApiError as error:
                # It will not be otherwise the next time: no such job, no token.
                if error.status < 500 and error.status != 429:
                    raise
            except httpx.TransportError:
                pass
            if position.ended:
                return
            position.failures += empty
            if position.failures > MAX_FAILURES:
                raise UnavailableError(f"the stream of job {job_id} at {self.url} stays broken")
            time.sleep(position.pause_secs())

    def _events(self, job_id: str, position: Position) -> Iterator[Event]:
        path = f"/jobs/{_http.quoted(job_id)}/stream"
        timeout = httpx.Timeout(SILENCE_SECS)
        with self._client.stream("GET", path, headers=position.headers(), timeout=timeout) as response:
            if response.status_code == 204:
                # Its end was read before.
                position.ended = True
                return
            if not response.is_success:
                response.read()
                _http.raise_for(response)
            parser = Parser()
            for line in response.iter_lines():
                event = parser.feed(line)
                if event is not None:
                    position.read(event)
                    yield event

    def wait(self, job_id: str, *, timeout_secs: float | None = None, poll_secs: float = 0.5) -> t.StatusResponse:
        """Waits until a job has stopped, and returns its status. Raises `TimeoutError`."""
        deadline = None if timeout_secs is None else time.monotonic() + timeout_secs
        while True:
            status = self.job_status(job_id)
            if status["status"] in STOPPED:
                return status
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"job {job_id} is still {status['status']} after {timeout_secs} s")
            time.sleep(poll_secs)


class AsyncClient(AsyncOperations):
    """The same as `Client` for asyncio."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout_secs: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url = _http.base_url(url)
        self._client = httpx.AsyncClient(
            base_url=self.url, headers=_http.headers(token), timeout=timeout_secs, transport=transport
        )

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes its connections."""
        await self._client.aclose()

    async def _send(self, verb: str, path: str, query: Any, body: Any) -> httpx.Response:
        try:
            response = await self._client.request(verb, path, params=_http.parameters(query), **_http.body_of(body))
        except httpx.TransportError as error:
            raise _http.unavailable(self.url, error) from error
        _http.raise_for(response)
        return response

    async def _json(self, verb: str, path: str, *, query: Any = None, body: Any = None) -> Any:
        response = await self._send(verb, path, query, body)
        return response.json() if response.content else None

    async def _text(self, verb: str, path: str, *, query: Any = None, body: Any = None) -> str:
        return (await self._send(verb, path, query, body)).text

    async def _bytes(self, verb: str, path: str, *, query: Any = None, body: Any = None) -> bytes:
        return (await self._send(verb, path, query, body)).content

    async def pages(self, method: Callable[..., Any], rows: str, **query: Any) -> AsyncIterator[dict[str, Any]]:
        """Every row of a list, page after page."""
        cursor: str | None = None
        while True:
            page = await method(cursor=cursor, **query)
            for row in page[rows]:
                yield row
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    async def follow(self, job_id: str, *, after: int | str | None = 0) -> AsyncIterator[Event]:
        """The events of a job up to its end; see `Client.follow`."""
        position = Position(after)
        while not position.ended:
            empty = True
            try:
                async for event in self._events(job_id, position):
                    empty = False
                    yield event
            except ApiError as error:
                if error.status < 500 and error.status != 429:
                    raise
            except httpx.TransportError:
                pass
            if position.ended:
                return
            position.failures += empty
            if position.failures > MAX_FAILURES:
                raise UnavailableError(f"the stream of job {job_id} at {self.url} stays broken")
            await asyncio.sleep(position.pause_secs())

    async def _events(self, job_id: str, position: Position) -> AsyncIterator[Event]:
        path = f"/jobs/{_http.quoted(job_id)}/stream"
        timeout = httpx.Timeout(SILENCE_SECS)
        async with self._client.stream("GET", path, headers=position.headers(), timeout=timeout) as response:
            if response.status_code == 204:
                position.ended = True
                return
            if not response.is_success:
                await response.aread()
                _http.raise_for(response)
            parser = Parser()
            async for line in response.aiter_lines():
                event = parser.feed(line)
                if event is not None:
                    position.read(event)
                    yield event

    async def wait(self, job_id: str, *, timeout_secs: float | None = None, poll_secs: float = 0.5) -> t.StatusResponse:
        """Waits until a job has stopped, and returns its status. Raises `TimeoutError`."""

        async def poll() -> t.StatusResponse:
            while True:
                status = await self.job_status(job_id)
                if status["status"] in STOPPED:
                    return status
                await asyncio.sleep(poll_secs)

        return await asyncio.wait_for(poll(), timeout_secs)


def follow(
    job_id: str, *, url: str | None = None, token: str | None = None, after: int | str | None = 0
) -> Iterator[Event]:
    """The events of a job of a server up to its end: see `Client.follow`."""
    with Client(url, token=token) as client:
        yield from client.follow(job_id, after=after)
