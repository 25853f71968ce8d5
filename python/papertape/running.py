"""Run a job, in a data directory or on a server, and read its result."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from papertape import frames
from papertape.binary import run_command, run_json
from papertape.client import Client
from papertape.sources import DataDirectory, Server

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

    from papertape._api import types as t

# A job without a key, a network or a configuration.
DEMO = {
    "models": ("house::momentum", "house::contrarian", "house::buy_and_hold"),
    "symbols": ("AAPL", "GOOG", "IBM", "MSFT"),
    "start": "2012-10-01",
    "end": "2012-12-31",
}


@dataclass(frozen=True)
class Result:
    """A job that has stopped. `status` is what `GET /simulate/status/{job_id}` returns."""

    job_id: str
    status: t.StatusResponse
    source: DataDirectory | Server

    def __repr__(self) -> str:
        return f"Result({self.job_id!r}, {self.status['status']!r}, {self.source!r})"

    @property
    def completed(self) -> bool:
        """Whether every day was completed."""
        return self.status["status"] == "completed"

    def results(self) -> t.RangeResults:
        """Metrics, costs and baselines by agent."""
        return self.source.results(self.job_id)

    def sessions_df(self) -> pd.DataFrame:
        """A row per session: see `papertape.sessions_df`."""
        return frames.sessions_df(self.source, self.job_id)

    def messages_df(self) -> pd.DataFrame:
        """A row per message: see `papertape.messages_df`."""
        return frames.messages_df(self.source, self.job_id)

    def orders_df(self) -> pd.DataFrame:
        """A row per fill, rejection and pending order: see `papertape.orders_df`."""
        return frames.orders_df(self.source, self.job_id)

    def equity_df(self) -> pd.DataFrame:
        """A row per agent and day: see `papertape.equity_df`."""
        return frames.equity_df(self.source, self.job_id)

    def compare_df(self, *others: str, against: str | None = None) -> pd.DataFrame:
        """The agents of this job, and others, compared: see `papertape.compare_df`."""
        return frames.compare_df(self.job_id, *others, source=self.source, against=against)

    def bundle(self, path: str | PathLike[str], *, tape: str = "none") -> Path:
        """Writes an evidence bundle: `tape` is `none`, `full` or `redacted`. Returns its path."""
        path = Path(path)
        if isinstance(self.source, Server):
            path.write_bytes(self.source.client.job_bundle(self.job_id, tape=tape))  # type: ignore[arg-type]
        else:
            options = ["--output", str(path), "--tape", tape, *self.source.options()]
            run_command(["bundle", self.job_id, "--json", *options])
        return path


def run(
    *,
    end: date | str | None = None,
    start: date | str | None = None,
    models: Sequence[str] = (),
    agents: Sequence[str] = (),
    commands: Mapping[str, Sequence[str]] | None = None,
    symbols: Sequence[str] = (),
    demo: bool = False,
    dataset: str | None = None,
    market: str | None = None,
    cash: float | None = None,
    frictionless: bool = False,
    benchmark: str | None = None,
    mask: str | None = None,
    memory: str | None = None,
    seed: int | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    summaries: bool = True,
    replace: bool = False,
    data_dir: str | PathLike[str] | None = None,
    config: str | PathLike[str] | None = None,
    url: str | None = None,
    token: str | None = None,
    options: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    progress: bool = False,
) -> Result:
    """Runs a simulation until it stops, and returns its result.

    With `url` the server runs it; otherwise the program does, in `data_dir` (`papertape-data` by default). If a server
    owns that directory, it runs the job there.

    `models` are configured agents or `provider::model`; `agents` are external agents of the configuration; `commands`
    are external agents by name with the command that starts each, such as `{"mine": ["python3", "agent.py"]}`, for this
    run only. The other arguments are the options of `papertape run` and the fields of `POST /simulate/trigger`;
    `options` are further options of the command. `progress` shows its progress on stderr.

    Raises `CommandError` or `ApiError` with the reason if the job cannot be started or fails.
    """
    if demo:
        models, symbols = models or DEMO["models"], symbols or DEMO["symbols"]
        start, end = start or str(DEMO["start"]), end or str(DEMO["end"])
    if end is None:
        raise TypeError("run() needs `end`, the last day, or `demo=True`")
    if url is not None:
        if commands or config or options or env:
            raise TypeError(
                "a server runs only agents of its own configuration: `commands`, `config`, `options` and "
                "`env` need a data directory"
            )
        limits = {"tokens": budget_tokens, "usd": budget_usd}
        budget = {name: value for name, value in limits.items() if value is not None}
        body = {
            "start_date": None if start is None else str(start),
            "end_date": str(end),
            "models": list(models) or None,
            "agents": [{"name": name, "kind": "external", "external": {"name": name}} for name in agents] or None,
            "symbols": list(symbols) or None,
            "dataset": dataset,
            "market": market,
            "initial_cash": cash,
            "costs": "frictionless" if frictionless else None,
            "benchmark": benchmark,
            "masking": mask,
            "memory": memory,
            "seed": seed,
            "budget": {"job": budget} if budget else None,
            "summaries": None if summaries else False,
            "replace_existing": replace or None,
        }
        return _run_remote(Client(url, token=token), {key: value for key, value in body.items() if value is not None})
    arguments = [
        *_option("--start", start),
        *_option("--end", end),
        *(part for model in models for part in ("--model", model)),
        *(part for agent in (*agents, *(commands or ())) for part in ("--agent", agent)),
        *_option("--symbols", ",".join(symbols) or None),
        *_option("--dataset", dataset),
        *_option("--market", market),
        *_option("--cash", cash),
        *(["--frictionless"] if frictionless else []),
        *_option("--benchmark", benchmark),
        *_option("--mask", mask),
        *_option("--memory", memory),
        *_option("--seed", seed),
        *_option("--budget-tokens", budget_tokens),
        *_option("--budget-usd", budget_usd),
        *([] if summaries else ["--no-summaries"]),
        *(["--replace"] if replace else []),
        *options,
    ]
    with _configured(config, commands) as file:
        source = DataDirectory(data_dir or os.environ.get("PAPERTAPE_DATA_DIR", "papertape-data"), config=file)
        status = run_json(["run", *arguments, *source.options()], env=env, progress=progress, stopped_ok=True)
    # The configuration of this run only is no longer there.
    return Result(str(status["job_id"]), status, DataDirectory(source.path, config=config))


def _run_remote(client: Client, body: dict[str, Any]) -> Result:
    queued = client.trigger(**body)
    for event in client.follow(queued["job_id"]):
        if event.name == "end":
            break
    return Result(queued["job_id"], client.job_status(queued["job_id"]), Server(client=client))


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]


@contextmanager
def _configured(
    config: str | PathLike[str] | None, commands: Mapping[str, Sequence[str]] | None
) -> Iterator[str | PathLike[str] | None]:
    """The configuration of a run: with `commands`, a copy of the one in force with these agents in addition."""
    if not commands:
        yield config
        return
    existing = config or os.environ.get("PAPERTAPE_CONFIG")
    if existing is None and Path("papertape.toml").is_file():
        existing = "papertape.toml"
    text = Path(existing).read_text(encoding="utf-8") + "\n" if existing else ""
    for name, command in commands.items():
        # A text of JSON is one of TOML too.
        parts = ", ".join(json.dumps(str(part)) for part in command)
        text += f"[external_agents.{json.dumps(name)}]\ncommand = [{parts}]\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "papertape.toml"
        file.write_text(text, encoding="utf-8")
        yield file
