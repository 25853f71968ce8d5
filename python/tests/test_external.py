"""Agents of this package and the examples, run by the program: the real other side of the protocol."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import pytest

import papertape
from papertape.sdk.serving import http_server
from tests.conftest import REPOSITORY
from tests.harness import SCHEMA, TOKEN, VALIDATORS, doors, sessions

pytestmark = pytest.mark.usefixtures("external")
EXAMPLES = REPOSITORY / "examples"
STANDINS = Path(__file__).parent / "standins"
DAYS = {"start": "2012-10-01", "end": "2012-10-05", "symbols": ["AAPL", "IBM"], "summaries": False}


def configuration(tmp_path: Path, name: str, command: list[str], more: str = "") -> Path:
    """A configuration with an agent whose process finds this package."""
    path = os.pathsep.join([str(STANDINS), str(REPOSITORY / "python")])
    file = tmp_path / "papertape.toml"
    file.write_text(
        f"{more}\n[external_agents.{name}]\ncommand = {json.dumps(command)}\n"
        f"env = {{ PYTHONPATH = {json.dumps(path)}, PYTHONDONTWRITEBYTECODE = '1' }}\n"
        f'models = ["{"fake::model" if "fake" in more else "house::momentum"}"]\n'
    )
    return file


def test_the_harness_checks_the_published_schema() -> None:
    """Goal: what the other tests exchange over pipes are messages of the published protocol."""
    assert SCHEMA.is_file()
    assert set(VALIDATORS) == {"fromAgent", "fromPapertape"}


def test_an_agent_of_the_sdk(tmp_path: Path) -> None:
    """Goal: the moving average trades, keeps its state, says its decision, and its job replays without it."""
    config = configuration(tmp_path, "average", [sys.executable, str(EXAMPLES / "moving_average.py")])
    result = papertape.run(agents=["average"], config=config, data_dir=tmp_path / "data", **DAYS)
    assert result.completed
    assert set(result.sessions_df()["status"]) == {"completed"}
    assert "filled" in set(result.orders_df()["status"])
    said = " ".join(result.messages_df()["content"])
    assert "day 5: " in said
    source = papertape.DataDirectory(tmp_path / "data", config=config)
    source.command("replay", result.job_id)
    source.command("verify", result.job_id)


@pytest.mark.parametrize("name", ["plain_stdio", "model_endpoint", "mcp_client"])
def test_the_examples(name: str, tmp_path: Path) -> None:
    """Goal: every example of an agent completes its days and trades with the program."""
    session = sessions()[0]
    with doors(session, lambda _: "BUY") as requests:
        assert session.doors is not None
        provider = (
            f'[models.providers.fake]\nkind = "openai_compatible"\nbase_url = "{session.doors["model_base_url"]}/"\n'
            'api_key_env = "FAKE_API_KEY"\nstream = false\n'
        )
        config = configuration(tmp_path, name, [sys.executable, str(EXAMPLES / f"{name}.py")], provider)
        result = papertape.run(
            agents=[name], config=config, data_dir=tmp_path / "data", env={"FAKE_API_KEY": TOKEN}, **DAYS
        )
    assert result.completed
    assert "buy" in set(result.orders_df()["side"])
    if name == "model_endpoint":
        assert len(requests) == 10, "a model call for each day and symbol"


def test_an_agent_with_a_url(tmp_path: Path) -> None:
    """Goal: an HTTP agent of the SDK serves days that the program posts."""

    def decide(day: papertape.Day) -> str:
        day.buy(day.symbols[0], 1)
        day.state["days"] = day.state.get("days", 0) + 1
        return f"day {day.state['days']}"

    with http_server(papertape.agent(decide), "127.0.0.1", 0, key="s3cret-key") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            config = tmp_path / "papertape.toml"
            config.write_text(
                f'[external_agents.web]\nurl = "http://127.0.0.1:{server.server_port}/day"\nkey_env = "WEB_AGENT_KEY"\n'
            )
            result = papertape.run(
                agents=["web"], config=config, data_dir=tmp_path / "data", env={"WEB_AGENT_KEY": "s3cret-key"}, **DAYS
            )
        finally:
            server.shutdown()
            thread.join()
    assert result.completed
    assert len(result.orders_df()) == 5
    assert "day 5" in " ".join(result.messages_df()["content"])


def test_a_failed_agent_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    """Goal: an agent that breaks fails its days, and the exception has its traceback without the progress."""
    agent = tmp_path / "agent.py"
    agent.write_text("import papertape\npapertape.serve(lambda day: 1 / 0)\n")
    config = configuration(tmp_path, "broken", [sys.executable, str(agent)])
    with pytest.raises(papertape.CommandError, match="ZeroDivisionError") as failed:
        papertape.run(agents=["broken"], config=config, data_dir=tmp_path / "data", **DAYS)
    assert "1 of 5 days" not in str(failed.value)
    assert set(papertape.sessions_df(tmp_path / "data")["status"]) == {"failed"}


def test_a_command_for_one_run_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: `run(commands=…)` needs no configuration."""
    monkeypatch.chdir(tmp_path)
    result = papertape.run(
        commands={"plain": [sys.executable, str(EXAMPLES / "plain_stdio.py")]}, data_dir=tmp_path / "data", **DAYS
    )
    assert result.completed
    assert set(result.sessions_df()["model"]) == {"plain"}
    assert not (tmp_path / "papertape.toml").exists()


def test_tradingagents(tmp_path: Path) -> None:
    """Goal: the adapter runs over the program's own market view and model endpoint, and its reports are recorded."""
    session = sessions()[0]
    with doors(session, lambda _: "**Rating**: Buy") as requests:
        assert session.doors is not None
        provider = (
            f'[models.providers.fake]\nkind = "openai_compatible"\nbase_url = "{session.doors["model_base_url"]}/"\n'
            'api_key_env = "FAKE_API_KEY"\nstream = false\n'
        )
        command = [sys.executable, "-m", "papertape.adapters.tradingagents"]
        config = configuration(tmp_path, "tradingagents", command, provider)
        result = papertape.run(
            agents=["tradingagents"], config=config, data_dir=tmp_path / "data", env={"FAKE_API_KEY": TOKEN}, **DAYS
        )
    assert result.completed
    assert len(requests) == 2 * 2 * 5
    orders = result.orders_df()
    assert set(orders[orders["status"] == "filled"]["symbol"]) == {"AAPL", "IBM"}
    said = " ".join(result.messages_df()["content"])
    assert "## Portfolio Manager" in said
    # The stand-in reads bars of the market view.
    assert "Date,Open,High,Low,Close,Volume" in said
