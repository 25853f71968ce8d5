"""The program that is tested, and what several tests read: a data directory, a server on it, and bundles."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import papertape

REPOSITORY = Path(__file__).resolve().parents[2]
# Agents of other processes are a feature of the program that these tests drive. With `True`, a program without it fails
# them; with `False`, it skips them.
EXTERNAL_IS_REQUIRED = True


@pytest.fixture(scope="session", autouse=True)
def binary() -> Iterator[Path]:
    """The built program: `PAPERTAPE`, by default target/debug/papertape."""
    path = Path(os.environ.get("PAPERTAPE") or REPOSITORY / "target" / "debug" / "papertape").resolve()
    assert path.is_file(), f"{path} is missing: build it with `cargo build -p papertape`"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAPERTAPE_BINARY", str(path))
        # Agents that tests start import the package of this repository.
        patch.setenv("PYTHONPATH", str(REPOSITORY / "python"))
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        for name in ("PAPERTAPE_URL", "PAPERTAPE_TOKEN", "PAPERTAPE_DATA_DIR", "PAPERTAPE_CONFIG"):
            patch.delenv(name, raising=False)
        yield path


@pytest.fixture(scope="session")
def external(binary: Path) -> None:
    """Requires a program that runs external agents."""
    text = subprocess.run([binary, "run", "--help"], capture_output=True, text=True, check=True).stdout
    if "--agent <" not in text:
        assert not EXTERNAL_IS_REQUIRED, f"{binary} cannot run external agents: `run --help` has no `--agent`"
        pytest.skip("this program cannot run external agents")


@dataclass(frozen=True)
class Record:
    """A data directory with three jobs: a desk's, one with rejected orders, and one with fills and pending orders."""

    path: Path
    config: Path
    desk: str
    rejected: str
    job: str


# Orders fill at the next open here, so some are pending at the close.
CONFIG = """
[markets.slow]
name = "Fills at the next open"
lot = "1"
fractional = false
t_plus_one = false
shorting = true
min_leverage = "1"
max_leverage = "1"
allows_margin = false
fees = { bps = "1", minimum = "1" }
slippage_bps = "5"
annual_financing_bps = "0"
fill_model = "next_open"
"""


@pytest.fixture(scope="session")
def record(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Record:
    home = tmp_path_factory.mktemp("record")
    config = home / "papertape.toml"
    config.write_text(CONFIG)
    common = {"data_dir": home / "data", "config": config, "symbols": ["AAPL", "MSFT", "IBM"]}
    desk = papertape.run(
        models=["house::momentum"], start="2012-10-01", end="2012-10-03", options=["--kind", "desk"], **common
    )
    # Orders of this size are more than a day's volume allows.
    rejected = papertape.run(models=["house::momentum"], cash=5e10, start="2012-10-01", end="2012-10-12", **common)
    job = papertape.run(
        models=["house::momentum", "house::contrarian"],
        market="slow",
        cash=3000,
        start="2012-10-01",
        end="2012-11-23",
        **common,
    )
    assert desk.completed
    assert rejected.completed
    assert job.completed
    return Record(home / "data", config, desk.job_id, rejected.job_id, job.job_id)


class Running:
    """A server of a data directory."""

    def __init__(
        self, binary: Path, path: Path, *, config: Path | None = None, env: dict[str, str] | None = None
    ) -> None:
        command = [binary, "serve", "--json", "--listen", "127.0.0.1:0", "--data-dir", path]
        command += ["--config", config] if config else []
        environment = {name: value for name, value in os.environ.items() if name != "PAPERTAPE_BINARY"}
        self.log = path.parent / "serve.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment | (env or {}))
        assert self.process.stdout is not None
        said = b""
        while not said.rstrip().endswith(b"}"):
            line = self.process.stdout.readline()
            assert line, f"the server did not start: {self.log.read_text()}"
            said += line
        self.url = json.loads(said)["url"]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="session")
def server(binary: Path, record: Record) -> Iterator[str]:
    """The URL of a server on the record."""
    running = Running(binary, record.path, config=record.config)
    yield running.url
    running.stop()


@pytest.fixture(scope="session")
def bundle(record: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the first job, with its tape."""
    file = tmp_path_factory.mktemp("bundle") / "job.bundle"
    source = papertape.DataDirectory(record.path, config=record.config)
    source.command("bundle", record.job, "--tape", "full", "--no-audit", "--output", str(file))
    return file
