"""The clients, against a real server."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import papertape
from papertape.stream import Event
from tests.conftest import REPOSITORY, Record, Running

PACKAGE = REPOSITORY / "python"


def test_the_client_is_generated_from_the_api_of_this_program(binary: Path) -> None:
    """Goal: a change of the API that the client does not have fails, with the command that takes it over."""
    command = [sys.executable, str(PACKAGE / "tools" / "generate_client.py"), str(binary), "--check"]
    environment = {name: value for name, value in os.environ.items() if name != "PAPERTAPE_BINARY"}
    checked = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert checked.returncode == 0, checked.stderr


def test_responses_are_those_of_the_api(server: str, record: Record) -> None:
    """Goal: methods send what their arguments say and return the response unchanged."""
    with papertape.Client(server) as client, httpx.Client(base_url=server, trust_env=False) as plain:
        for called, path in (
            (client.job_status(record.job), f"/simulate/status/{record.job}"),
            (client.results(job_id=record.job), f"/results?job_id={record.job}"),
            (client.jobs(kind="simulate", limit=1), "/jobs?kind=simulate&limit=1"),
            (client.datasets(), "/datasets"),
            (client.jobs(from_="2020-01-01"), "/jobs?from=2020-01-01"),
            (client.bars("us-daily-2000-2013", symbol="AAPL", start_date="2012-10-01", end_date="2012-10-05"),
             "/datasets/us-daily-2000-2013/bars?symbol=AAPL&start_date=2012-10-01&end_date=2012-10-05"),
            (client.reasoning(job_id=record.desk, include_full_conversation=True),
             f"/reasoning?job_id={record.desk}&include_full_conversation=true"),
        ):  # fmt: skip
            assert called == plain.get(path).raise_for_status().json(), path
        assert client.metrics().startswith("#")
        assert client.job_bundle(record.job, audit=False).startswith(b"PK")
        assert "<html" in client.job_report(record.job)


def test_errors_have_the_sentences_of_the_server(server: str) -> None:
    """Goal: an error is an exception by its kind, with code, status and sentence."""
    with papertape.Client(server) as client:
        with pytest.raises(papertape.NotFoundError) as unknown:
            client.job_status("nope")
        assert isinstance(unknown.value, papertape.ApiError)
        assert (unknown.value.status, unknown.value.code) == (404, "not_found")
        with pytest.raises(papertape.ApiError, match=re.escape("400 invalid_input: date: `yesterday`")):
            client.results(date="yesterday")
        with pytest.raises(papertape.ApiError, match="invalid_input: flavor: unknown field"):
            client.trigger(end_date="2012-10-05", flavor="red")  # type: ignore[call-arg]
    with (
        papertape.Client("http://127.0.0.1:9") as client,
        pytest.raises(papertape.UnavailableError, match="papertape serve"),
    ):
        client.health()


def test_lists_are_read_page_after_page(server: str, record: Record) -> None:
    """Goal: `pages` yields every row of a list once."""
    with papertape.Client(server) as client:
        rows = list(client.pages(client.reasoning, "sessions", job_id=record.job, limit=7))
        status = client.job_status(record.job)
    assert len(rows) == status["progress"]["completed"]
    assert len({row["session_id"] for row in rows}) == len(rows)


def test_a_job_is_run_by_a_server_and_followed(binary: Path, tmp_path: Path) -> None:
    """Goal: `run` with a URL queues the job, follows it to its end, and reads its result from the server."""
    running = Running(binary, tmp_path / "data")
    try:
        result = papertape.run(
            url=running.url, models=["house::momentum"], symbols=["AAPL"], start="2012-10-01", end="2012-10-10",
            cash=5000, budget_usd=1, frictionless=True,
        )  # fmt: skip
        assert result.completed
        assert result.results()["results"][0]["starting_portfolio_value"] == 5000
        assert len(result.equity_df()) == 8
        bundle = result.bundle(tmp_path / "run.bundle")
        assert papertape.Bundle(bundle).job_ids == [result.job_id]
        events = list(papertape.follow(result.job_id, url=running.url))
    finally:
        running.stop()
    assert [event.cursor for event in events] == list(range(1, len(events) + 1))
    assert events[-1].name == "end"
    assert events[-1].job["status"] == "completed"


class Cut(httpx.BaseTransport):
    """Breaks every stream after some bytes, and counts the connections."""

    def __init__(self, size: int) -> None:
        self.inner = httpx.HTTPTransport()
        self.size = size
        self.streams = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self.inner.handle_request(request)
        if request.url.path.endswith("/stream"):
            self.streams += 1
            assert self.streams < 200, "the stream does not advance"
            assert isinstance(response.stream, httpx.SyncByteStream)
            return httpx.Response(
                response.status_code, headers=response.headers, stream=Broken(response.stream, self.size)
            )
        return response

    def close(self) -> None:
        self.inner.close()


class Broken(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, size: int) -> None:
        self.inner, self.size = inner, size

    def __iter__(self) -> Iterator[bytes]:
        left = self.size
        for chunk in self.inner:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                raise httpx.ReadError("cut")

    def close(self) -> None:
        self.inner.close()


def told(events: list[Event]) -> list[Any]:
    return [(event.cursor, event.name, event.event) for event in events]


def test_a_broken_stream_loses_and_repeats_nothing(server: str, record: Record) -> None:
    """Goal: over many broken connections, every event comes once and in order."""
    with papertape.Client(server) as client:
        whole = told(list(client.follow(record.desk)))
    transport = Cut(2500)
    with papertape.Client(server, transport=transport) as client:
        assert told(list(client.follow(record.desk))) == whole
        assert transport.streams > 3
        # Behind the end there is nothing.
        assert list(client.follow(record.desk, after=whole[-1][0])) == []
        with pytest.raises(papertape.NotFoundError):
            list(client.follow("nope"))


def test_the_async_client_does_the_same(server: str, record: Record) -> None:
    """Goal: every call of the async client returns what the other client returns."""

    async def read() -> list[Any]:
        async with papertape.AsyncClient(server) as client:
            with pytest.raises(papertape.NotFoundError):
                await client.job_status("nope")
            return [
                await client.job_status(record.job),
                [row async for row in client.pages(client.jobs, "jobs", limit=1)],
                told([event async for event in client.follow(record.desk)]),
                (await client.wait(record.job))["status"],
            ]

    with papertape.Client(server) as client:
        expected = [
            client.job_status(record.job),
            list(client.pages(client.jobs, "jobs", limit=1)),
            told(list(client.follow(record.desk))),
            client.wait(record.job)["status"],
        ]
    assert asyncio.run(read()) == expected


def test_tokens_are_sent(binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: a token is taken from its argument or from PAPERTAPE_TOKEN, and its lack is an error of its own."""
    created = subprocess.run(
        [binary, "auth", "token", "tests", "--scope", "read"],
        capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}, cwd=tmp_path,
    )  # fmt: skip
    token = re.search(r"ptk_[0-9a-f]{64}", created.stdout)
    assert token
    config = tmp_path / "papertape.toml"
    config.write_text(created.stdout[created.stdout.index("[[auth.tokens]]") :])
    running = Running(binary, tmp_path / "data", config=config)
    try:
        with (
            papertape.Client(running.url) as client,
            pytest.raises(papertape.UnauthorizedError, match="401 unauthorized"),
        ):
            client.access()
        with papertape.Client(running.url, token=token[0]) as client:
            assert client.access()["scope"] == "read"
            with pytest.raises(papertape.UnauthorizedError, match="403 read_only_token"):
                client.trigger(end_date="2012-10-05")
        monkeypatch.setenv("PAPERTAPE_TOKEN", token[0])
        with papertape.Client(running.url) as client:
            assert client.access()["name"] == "tests"
    finally:
        running.stop()
