"""The SDK, against Papertape's side of the protocol over pipes and over HTTP."""

from __future__ import annotations

import json
import os
import textwrap
import threading
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

import papertape
from papertape.sdk.serving import http_server
from tests.harness import LIMITS, Book, doors, play, python, sessions


def program(tmp_path: Path, text: str) -> Path:
    """A file with an agent. It has the lines of a user's file, and no others."""
    file = tmp_path / "agent.py"
    file.write_text("import papertape\n" + textwrap.dedent(text))
    return file


def run_function(function: Any, **more: Any) -> Any:
    """Runs a function for one day, with the answers of a session."""

    class Direct:
        def request(self, message: Any) -> Any:
            from papertape.sdk.channel import encode
            from papertape.sdk.errors import SessionEndedError

            answer = session.answer(encode(message) + b"\n")[0]
            if answer["type"] == "end":
                raise SessionEndedError(answer["reason"])
            return json.loads(json.dumps(answer))

    session = sessions(**more)[0]
    day = papertape.Day(session.day(), Direct())
    papertape.agent(function).trade(day)
    return session


def test_an_agent_of_twenty_lines_trades_several_days_in_one_process(tmp_path: Path) -> None:
    """Goal: reads, orders, state and decisions arrive, and a process serves one day after the other."""
    file = program(
        tmp_path,
        """
        @papertape.agent
        def decide(day):
            day.state["days"] = day.state.get("days", 0) + 1
            for symbol in day.symbols:
                closes = day.closes(symbol, 10)
                trend = closes[-1] > sum(closes) / len(closes)
                if trend and not day.account.quantity(symbol):
                    day.buy(symbol, 10, reason="up")
                elif not trend and day.account.quantity(symbol):
                    day.sell(symbol, day.account.quantity(symbol))
            return f"day {day.state['days']} with {day.account.cash}"

        papertape.serve(decide)
        """,
    )
    played = play(python(file), sessions(days=3))
    assert played.returncode == 0, played.stderr
    first, second, third = played.sessions
    assert [order["symbol"] for order in first.orders] == ["AAPL"]
    assert first.orders[0] == {
        "type": "order",
        "id": first.orders[0]["id"],
        "side": "buy",
        "symbol": "AAPL",
        "quantity": 10,
        "reason": "up",
    }
    assert first.decision == "day 1 with 8810.0"
    assert not second.orders
    assert third.state == {"days": 3}
    assert third.decision == "day 3 with 8810.0"


def test_whatever_prints_goes_to_stderr(tmp_path: Path) -> None:
    """Goal: prints of the agent, of the file descriptor and of child processes never reach the protocol."""
    file = program(
        tmp_path,
        """
        import os, subprocess, sys
        print("before serving")

        def decide(day):
            print("printed")
            os.write(1, b"written\\n")
            child = "import sys; print('from a child'); assert sys.stdin.read() == ''"
            subprocess.run([sys.executable, "-c", child], check=True)
            assert sys.stdin.read() == ""

        papertape.serve(decide)
        """,
    )
    # What is printed before `serve` is on stdout: the harness reads the protocol only after that line.
    text = file.read_text().replace('print("before serving")\n', "")
    file.write_text(text)
    played = play(python(file), sessions(days=2))
    assert played.returncode == 0, played.stderr
    for said in ("printed", "written", "from a child"):
        assert played.stderr.count(said) == 2
    assert all(session.ended == "completed" for session in played.sessions)


def test_state_is_stored_only_if_it_changes_and_can_be_cleared(tmp_path: Path) -> None:
    """Goal: `done` has `state` exactly when the agent changed it, and `None` clears it."""

    def leave(day: papertape.Day) -> None:
        assert day.state == {"a": [1]}

    def change(day: papertape.Day) -> None:
        day.state["a"].append(2)

    def clear(day: papertape.Day) -> None:
        day.state = None

    state = {"a": [1]}
    assert "state" not in run_function(leave, state=state).requests[-1]
    assert run_function(change, state=state).requests[-1]["state"] == {"a": [1, 2]}
    assert state == {"a": [1]}
    assert run_function(clear, state=state).requests[-1]["state"] is None
    # A first day without state stays without.
    assert "state" not in run_function(lambda day: day.state.get("x")).requests[-1]

    def too_much(day: papertape.Day) -> None:
        day.state["text"] = "x" * (LIMITS["max_state_bytes"] + 1)

    with pytest.raises(papertape.AgentError, match="limit: the state has"):
        run_function(too_much)


def test_a_day_is_typed() -> None:
    """Goal: every field of `day` is there, with its type, and the account follows the orders."""

    def decide(day: papertape.Day) -> str:
        assert (day.job, day.agent, day.date) == ("job-1", "mine", date(2025, 3, 3))
        assert day.instant == datetime(2025, 3, 3, 14, 30, tzinfo=timezone.utc)
        assert (day.language, day.symbols, day.universe, day.notices) == ("en", ["AAPL", "IBM"], None, ["mind the gap"])
        assert day.limits["max_orders"] == 100
        assert day.tools["get_bars"]["description"] == "get_bars"
        assert day.account.equity == 10_000
        assert day.price("AAPL") == 119
        order = day.buy("AAPL", Decimal("2.5"), stop=90, target="130.25")
        assert (order.status, order.filled, order.price, order.fee, order.order_id) == ("filled", True, 119, 1, "1")
        assert day.account.cash == 10_000 - 2.5 * 119
        held = day.account.positions["AAPL"]
        assert (held.quantity, held.unrealized_pnl, held.leverage, held.stop) == (2.5, 1.5, 1, None)
        return "bought"

    session = run_function(decide, notices=["mind the gap"])
    assert session.decision == "bought"
    # Decimals are texts, so that nothing is rounded.
    assert {name: session.orders[0][name] for name in ("quantity", "stop", "target")} == {
        "quantity": "2.5",
        "stop": 90,
        "target": "130.25",
    }


def test_rejections_are_returned_and_other_errors_are_raised() -> None:
    """Goal: an agent sees why an order was rejected without an exception, and a wrong request with one."""

    def decide(day: papertape.Day) -> None:
        order = day.buy("AAPL", 10_000)
        assert order.rejected
        assert order.code == "insufficient_funds"
        assert order.message == "the order costs 1190000.0, more than the cash"
        with pytest.raises(papertape.AgentError) as unknown:
            day.read("get_weather")
        assert unknown.value.code == "unknown_tool"
        assert "get_bars" in unknown.value.expected
        with pytest.raises(papertape.AgentError, match="has no argument `days`"):
            day.read("get_bars", symbol="AAPL", days=3)
        with pytest.raises(papertape.DataUnavailableError, match="no macroeconomic series"):
            day.read("get_macro")
        with pytest.raises(papertape.AgentError, match="finite"):
            day.buy("AAPL", float("nan"))
        with pytest.raises(papertape.AgentError, match="no listener"):
            day.token  # noqa: B018

    assert run_function(decide).ended == "completed"


def test_a_deadline_ends_the_day_and_not_the_process(tmp_path: Path) -> None:
    """Goal: an `end` in place of a reply stops the agent's function, and the next day runs."""
    file = program(
        tmp_path,
        """
        def decide(day):
            for _ in range(5):
                day.price("AAPL")

        papertape.serve(decide)
        """,
    )
    days = sessions(days=2)
    days[0].deadline_at = 3
    played = play(python(file), days)
    assert played.returncode == 0, played.stderr
    assert [session.ended for session in played.sessions] == ["deadline", "completed"]
    assert "the session is over: deadline" in played.stderr


def test_an_error_in_the_agent_ends_the_process_with_its_traceback(tmp_path: Path) -> None:
    """Goal: a bug of the agent is visible, and never a completed day."""
    file = program(tmp_path, "papertape.serve(lambda day: 1 / 0)\n")
    played = play(python(file), sessions())
    assert played.returncode == 1
    assert "ZeroDivisionError" in played.stderr
    assert played.sessions[0].ended is None


def test_threads_of_an_agent_share_a_session(tmp_path: Path) -> None:
    """Goal: requests of several threads are answered one at a time, each with its own reply."""
    file = program(
        tmp_path,
        """
        from concurrent.futures import ThreadPoolExecutor

        def decide(day):
            with ThreadPoolExecutor(8) as pool:
                prices = list(pool.map(day.price, day.symbols * 20))
            assert prices == [119.0, 181.0] * 20, prices

        papertape.serve(decide)
        """,
    )
    played = play(python(file), sessions())
    assert played.returncode == 0, played.stderr
    assert len(played.sessions[0].requests) == 41


def test_an_agent_with_a_url_is_served_over_http() -> None:
    """Goal: the day arrives by POST, requests go to `session_url` with the token, and a wrong key is turned away."""

    def decide(day: papertape.Day) -> str:
        day.state["seen"] = True
        return f"held {day.buy('IBM', 1).quantity}"

    with http_server(papertape.agent(decide), "127.0.0.1", 0, key="s3cret") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            session = sessions()[0]
            with doors(session), httpx.Client(trust_env=False) as client:
                url = f"http://127.0.0.1:{server.server_port}/day"
                assert client.post(url, json=session.day()).status_code == 401
                answer = client.post(url, json=session.day(), headers={"Authorization": "Bearer s3cret"})
                assert answer.status_code == 200, answer.text
                assert client.post(url, content=b"{", headers={"Authorization": "Bearer s3cret"}).status_code == 400
        finally:
            server.shutdown()
            thread.join()
    assert (session.ended, session.decision, session.state) == ("completed", "held 1.0", {"seen": True})


def test_an_error_of_an_http_agent_is_a_500(capsys: pytest.CaptureFixture[str]) -> None:
    """Goal: Papertape learns that the agent failed, with the reason."""
    with http_server(papertape.agent(lambda day: 1 / 0), "127.0.0.1", 0) as server:  # type: ignore[arg-type, return-value]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            session = sessions()[0]
            with doors(session), httpx.Client(trust_env=False) as client:
                answer = client.post(f"http://127.0.0.1:{server.server_port}/day", json=session.day())
        finally:
            server.shutdown()
            thread.join()
    assert answer.status_code == 500
    assert answer.json() == {"error": "ZeroDivisionError: division by zero"}
    assert session.ended is None
    assert "Traceback" in capsys.readouterr().err


def test_the_doors_of_a_session() -> None:
    """Goal: base URLs and token fit the clients of OpenAI, Anthropic and MCP, and `chat` calls the model."""
    heard: list[str] = []

    def decide(day: papertape.Day) -> None:
        assert day.openai_base_url.endswith("/v1")
        assert day.anthropic_base_url == day.openai_base_url[: -len("/v1")]
        assert day.mcp_url.endswith("/mcp")
        assert (day.token, day.models) == ("pts_test", ["test::model"])
        heard.append(day.chat("up or down?", temperature=0))

    session = sessions(book=Book())[0]
    with doors(session, lambda request: request["messages"][0]["content"].upper()) as requests:
        run_function_on(session, decide)
    assert heard == ["UP OR DOWN?"]
    assert requests == [
        {"model": "test::model", "messages": [{"role": "user", "content": "up or down?"}], "temperature": 0}
    ]


def run_function_on(session: Any, function: Any) -> None:
    from papertape.sdk.channel import Http

    channel = Http(session.doors["session_url"], session.doors["token"], 30)
    papertape.agent(function).trade(papertape.Day(session.day(), channel))
    channel.close()


def test_a_line_that_is_too_long_is_not_sent(tmp_path: Path) -> None:
    """Goal: the agent gets an error before Papertape does, and its session continues."""
    file = program(
        tmp_path,
        """
        def decide(day):
            try:
                day.read("calculate", expression="1" * day.limits["max_line_bytes"])
            except papertape.AgentError as error:
                return error.code

        papertape.serve(decide)
        """,
    )
    played = play(python(file), sessions(), env=dict(os.environ))
    assert played.sessions[0].decision == "limit"
