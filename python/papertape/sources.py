"""Where results are read from: a server, a data directory, or a bundle. All three return the same rows."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from papertape import _http
from papertape.binary import run_command, run_json
from papertape.client import Client
from papertape.errors import BundleError, CommandError, NotFoundError

if TYPE_CHECKING:
    from os import PathLike

    from papertape._api import types as t

Row = dict[str, Any]

# Sessions with their conversations per request.
PAGE = 50


class Source(Protocol):
    """What a source can return. `job` is an ID or `latest`; a bundle knows its own."""

    def sessions(self, job: str = "latest") -> list[Row]:
        """The sessions, as `GET /reasoning` returns them."""

    def conversations(self, job: str = "latest") -> list[Row]:
        """The sessions with all their messages."""

    def results(self, job: str = "latest") -> t.RangeResults:
        """The results of all days, as `GET /results` returns them."""

    def orders(self, job: str = "latest") -> list[Row]:
        """Fills, rejections and pending orders, by day and agent."""

    def compare(self, *items: str, against: str | None = None) -> t.CompareResponse:
        """A comparison, as `GET /compare` returns it."""


class Server:
    """A server, through its API."""

    def __init__(self, url: str | None = None, *, token: str | None = None, client: Client | None = None) -> None:
        self.client = client or Client(url, token=token)

    def __repr__(self) -> str:
        return f"Server({self.client.url!r})"

    def job_id(self, job: str) -> str:
        if job != "latest":
            return job
        jobs = self.client.jobs(kind="simulate", limit=1)["jobs"]
        if not jobs:
            raise NotFoundError("not_found", f"{self.client.url} has no jobs; start one with `papertape run --demo`")
        return jobs[0]["job_id"]

    def sessions(self, job: str = "latest") -> list[Row]:
        return list(self.client.pages(self.client.reasoning, "sessions", job_id=self.job_id(job), limit=200))

    def conversations(self, job: str = "latest") -> list[Row]:
        query = {"job_id": self.job_id(job), "limit": PAGE, "include_full_conversation": True}
        return list(self.client.pages(self.client.reasoning, "sessions", **query))

    def results(self, job: str = "latest") -> t.RangeResults:
        return _of_range(self.client.results(job_id=self.job_id(job)))

    def orders(self, job: str = "latest") -> list[Row]:
        job = self.job_id(job)
        rows: list[Row] = []
        for day in _days(self.results(job)):
            rows.extend(_orders_of_day(_of_day(self.client.results(job_id=job, date=day))))
        return rows

    def compare(self, *items: str, against: str | None = None) -> t.CompareResponse:
        named = [self.job_id(item) for item in items or ("latest",)]
        return self.client.compare(select=",".join(named), against=against)


class DataDirectory:
    """A data directory, through the program. It can be read while a server owns it."""

    def __init__(
        self, path: str | PathLike[str] = "papertape-data", *, config: str | PathLike[str] | None = None
    ) -> None:
        self.path = Path(path)
        self.config = config

    def __repr__(self) -> str:
        return f"DataDirectory({str(self.path)!r})"

    def options(self) -> list[str]:
        config = [] if self.config is None else ["--config", str(self.config)]
        return ["--data-dir", str(self.path), *config]

    def command(self, *arguments: str) -> Any:
        """The JSON of a command: `directory.command("audit", "latest")`."""
        return run_json([*arguments, *self.options()])

    def sessions(self, job: str = "latest") -> list[Row]:
        return list(self._pages("reasoning", job, "--brief"))

    def conversations(self, job: str = "latest") -> list[Row]:
        return list(self._pages("reasoning", job, "--full"))

    def _pages(self, *arguments: str) -> Iterator[Row]:
        cursor: list[str] = []
        while True:
            page = self.command(*arguments, "--limit", str(PAGE), *cursor)
            yield from page["sessions"]
            if page.get("next_cursor") is None:
                return
            cursor = ["--cursor", str(page["next_cursor"])]

    def results(self, job: str = "latest") -> t.RangeResults:
        return _of_range(self.command("results", job))

    def orders(self, job: str = "latest") -> list[Row]:
        # The whole ledger at once, where a command per day would open the database for each.
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "job.bundle"
            try:
                run_command(["bundle", job, "--no-audit", "--output", str(file), "--json", *self.options()])
            except CommandError as error:
                if error.exit_code != 1:
                    raise
            else:
                return Bundle(file, verify=False).orders()
        # A bundle is of a job that has stopped.
        rows: list[Row] = []
        for day in _days(self.results(job)):
            rows.extend(_orders_of_day(self.command("results", job, "--date", day)))
        return rows

    def compare(self, *items: str, against: str | None = None) -> t.CompareResponse:
        options = [] if against is None else ["--against", against]
        answer: t.CompareResponse = self.command("compare", *(items or ("latest",)), *options)
        return answer


class Bundle:
    """An evidence bundle. The program verifies it before anything is read.

    Sessions have no IDs, summaries and times here, and conversations need a bundle with the tape (`--tape full`).
    """

    def __init__(self, path: str | PathLike[str], *, verify: bool = True) -> None:
        self.path = Path(path)
        self.verification: Row = self.verify() if verify else {}
        with zipfile.ZipFile(self.path) as archive:
            self.manifest: Row = json.loads(archive.read("manifest.json"))

    def __repr__(self) -> str:
        return f"Bundle({str(self.path)!r})"

    def verify(self) -> Row:
        """What `papertape verify FILE` reports. Raises `BundleError` with the parts that failed."""
        try:
            return dict(run_json(["verify", str(self.path)]))
        except CommandError as error:
            raise BundleError(f"{self.path} does not verify: {error.message}") from error

    @property
    def job_ids(self) -> list[str]:
        """Its jobs."""
        return [str(job["job_id"]) for job in self.manifest["jobs"]]

    def _part(self, name: str) -> bytes:
        with zipfile.ZipFile(self.path) as archive:
            try:
                return archive.read(name)
            except KeyError:
                raise BundleError(f"{self.path} has no `{name}`") from None

    def _lines(self, name: str) -> Iterator[Row]:
        return (json.loads(line) for line in self._part(name).splitlines())

    def _folders(self, job: str) -> list[tuple[str, str]]:
        jobs = [(str(one["job_id"]), str(one["folder"])) for one in self.manifest["jobs"]]
        if job == "latest":
            return jobs
        found = [one for one in jobs if one[0] == job]
        if not found:
            raise NotFoundError("not_found", f"{self.path} has no job {job}; it has {', '.join(self.job_ids)}")
        return found

    def sessions(self, job: str = "latest") -> list[Row]:
        rows: list[Row] = []
        for job_id, folder in self._folders(job):
            days = (line for line in self._lines(f"{folder}/ledger.jsonl") if line["row"] == "day")
            # Days that the job skipped are of another job.
            rows.extend(
                {"job_id": job_id, "date": day["date"], "model": day["agent"], "status": day["status"]}
                for day in days
                if day["job"] == job_id
            )
        return sorted(rows, key=lambda row: (row["job_id"], row["date"], row["model"]))

    def conversations(self, job: str = "latest") -> list[Row]:
        if self.manifest["tape"] != "full":
            raise BundleError(
                f"{self.path} has no messages; write it with `papertape bundle {self.job_ids[0]} --tape full`"
            )
        return [session for job_id, folder in self._folders(job) for session in self._conversations(job_id, folder)]

    def _conversations(self, job_id: str, folder: str) -> list[Row]:
        texts = {line["hash"]: line["text"] for line in self._lines(f"{folder}/texts.jsonl")}
        sessions: list[Row] = []
        for line in self._lines(f"{folder}/tape.jsonl"):
            if line["row"] == "session":
                sessions.append({"job_id": job_id, "date": line["date"], "model": line["agent"], "conversation": []})
                continue
            conversation = sessions[-1]["conversation"]
            for row in line.get("rows", ()):
                if row["row"] == "message":
                    conversation.append(_message(row, line["link"]["path"], len(conversation), texts))
        return sorted(sessions, key=lambda row: (row["date"], row["model"]))

    def results(self, job: str = "latest") -> t.RangeResults:
        results = []
        for _, folder in self._folders(job):
            results.extend(json.loads(self._part(f"{folder}/metrics.json")))
        return _of_range({"results": results})

    def orders(self, job: str = "latest") -> list[Row]:
        rows: list[Row] = []
        for job_id, folder in self._folders(job):
            days = sorted(self._lines(f"{folder}/fills.jsonl"), key=lambda day: (day["date"], day["agent"]))
            for day in days:
                common = {"job_id": job_id, "date": day["date"], "model": day["agent"]}
                rows.extend(common | _fill(fill) for fill in day["fills"])
                orders = [order for order in day["orders"] if order["status"] != "filled"]
                # As the API lists them: rejections first.
                orders.sort(key=lambda order: order["status"] == "pending")
                rows.extend(common | _order(order) for order in orders)
        return rows

    def compare(self, *items: str, against: str | None = None) -> t.CompareResponse:
        if items or against:
            raise BundleError("a bundle has the comparison that it was written with, and no other")
        answer: t.CompareResponse = json.loads(self._part("comparison.json"))
        return answer


AnySource = Server | DataDirectory | Bundle


def open_source(source: str | PathLike[str] | AnySource | None = None, *, token: str | None = None) -> AnySource:
    """A source: the URL of a server, a data directory, or the file of a bundle.

    Without one, the server that `PAPERTAPE_URL` names, else the data directory `papertape-data`.
    """
    import os

    if isinstance(source, Server | DataDirectory | Bundle):
        return source
    if source is None:
        url = os.environ.get(_http.URL_VARIABLE)
        return (
            Server(url, token=token) if url else DataDirectory(os.environ.get("PAPERTAPE_DATA_DIR", "papertape-data"))
        )
    text = os.fspath(source)
    if text.startswith(("http://", "https://")):
        return Server(text, token=token)
    path = Path(text)
    if path.is_dir():
        return DataDirectory(path)
    if path.is_file():
        return Bundle(path)
    raise FileNotFoundError(f"{text} is not a URL, a data directory or a bundle")


def _of_range(answer: Any) -> t.RangeResults:
    found: t.RangeResults = answer
    return found


def _of_day(answer: Any) -> t.DayResults:
    found: t.DayResults = answer
    return found


def _days(results: t.RangeResults) -> list[str]:
    return sorted({value["date"] for result in results["results"] for value in result["daily_portfolio_values"]})


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


_NUMBERS = ("price", "fee", "slippage", "stop", "target", "leverage")


def _fill(fill: Row) -> Row:
    quantity = fill["quantity"] if "quantity" in fill else fill["amount"]
    return {
        "order_id": fill.get("order_id"),
        "symbol": fill["symbol"],
        "side": fill["action_type"],
        "quantity": _number(quantity),
        "status": "filled",
        "code": None,
        "message": None,
        # Some sources leave out what is zero.
        "realized_pnl": _number(fill.get("realized_pnl", fill.get("realised_pnl"))),
        **{name: _number(fill.get(name)) for name in _NUMBERS},
    }


def _order(order: Row, status: str | None = None) -> Row:
    return {
        "order_id": order["order_id"],
        "symbol": order["symbol"],
        "side": order["side"],
        "quantity": _number(order["quantity"]),
        "status": status or order["status"],
        "code": order.get("code"),
        "message": order.get("message"),
        "realized_pnl": None,
        **dict.fromkeys(_NUMBERS),
    }


def _orders_of_day(day: t.DayResults) -> Iterable[Row]:
    for result in day["results"]:
        common = {"job_id": result["job_id"], "date": result["date"], "model": result["model"]}
        for trade in result["trades"]:
            yield common | _fill(dict(trade))
        for rejection in result["rejections"]:
            yield common | _order(dict(rejection))
        for pending in result["pending_orders"]:
            if pending["placed_on"] == result["date"]:
                yield common | _order(dict(pending), "pending")


def _message(row: Row, path: str, index: int, texts: dict[str, str]) -> Row:
    content = texts.get(row["content"], "")
    # A document's text is marked as one.
    if content.startswith("json\n"):
        content = json.loads(content.removeprefix("json\n"))
    return {
        "message_index": index,
        "role": row["role"],
        "content": content,
        "tool_name": row["tool_name"],
        "tool_input": row["tool_input"],
        "path": path,
        "node": path.rsplit("/", 1)[0],
    }
