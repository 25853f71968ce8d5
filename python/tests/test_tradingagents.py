"""The adapter for TradingAgents, with a stand-in of its interfaces, over the real protocol."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from papertape.adapters import sizing, tradingagents
from papertape.sdk import Account
from tests.conftest import REPOSITORY
from tests.harness import Book, Session, doors, play, python, sessions

STANDINS = Path(__file__).parent / "standins"


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": f"{STANDINS}{os.pathsep}{REPOSITORY / 'python'}"} | more


def trade_day(session: Session, ratings: dict[str, str], *options: str) -> tuple[Any, list[Any]]:
    """Runs the adapter for a day whose models rate symbols so."""

    def reply(request: Any) -> str:
        prompt = request["messages"][-1]["content"]
        symbol = prompt.split()[-1]
        return f"**Rating**: {ratings[symbol]}\n\nBecause." if prompt.startswith("decide") else f"Posts about {symbol}."

    with doors(session, reply) as requests:
        command = python("-m", "papertape.adapters.tradingagents", *options)
        return play(command, [session], env=environment()), requests


def market_report(decision: str, symbol: str) -> Any:
    """What the stand-in read, as its market report has it."""
    found = re.search(rf"# {symbol}: .*?## Market Analyst\n\n(.*?)\n\n## ", decision, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_ratings_become_orders_and_reports_the_decision() -> None:
    """Goal: the package runs unchanged; its models, data, orders and reports are Papertape's."""
    book = Book(cash=10_000, held={"IBM": 5})
    session = sessions(book=book, news=[
        {"title": "Up", "text": "It rises.", "source": "wire", "published_at": "2025-03-01T10:00:00Z", "symbols": ["AAPL"]},
        {"title": "Old", "text": "", "source": "wire", "published_at": "2025-01-01T10:00:00Z", "symbols": ["AAPL"]},
    ])[0]  # fmt: skip
    equity = session.account()["equity"]
    played, requests = trade_day(session, {"AAPL": "Overweight", "IBM": "Sell"}, "--debate-rounds", "2")
    assert played.returncode == 0, played.stderr
    assert session.ended == "completed"
    # What it prints is not on the protocol.
    assert "asking test::model" in played.stderr
    # Closing orders come first, and an Overweight is 0.6 of the cap of a quarter.
    assert [(order["side"], order["symbol"], order["quantity"], order["reason"]) for order in session.orders] == [
        ("sell", "IBM", 5.0, "Sell"),
        ("buy", "AAPL", float(int(equity * 0.25 * 0.6 / 119)), "Overweight"),
    ]
    assert {request["model"] for request in requests} == {"test::model"}
    decision = session.decision or ""
    assert decision.startswith("AAPL: Overweight\nIBM: Sell\nsell 5 IBM: filled\nbuy ")
    for role in (
        "Sentiment Analyst",
        "Bull Researcher",
        "Research Manager",
        "Trader",
        "Aggressive Analyst",
        "Portfolio Manager",
    ):
        assert decision.count(f"## {role}\n") == 2, role
    read = market_report(decision, "AAPL")
    assert "2025-02-28,118.0,120.0,117.0,119.0,1000" in read["stock"]
    assert (read["rsi"], read["average"]) == (
        "## rsi of AAPL at the close of 2025-02-28\n\nrsi_14: 55.5\n",
        "## close_50_sma of AAPL at the close of 2025-02-28\n\nsma_50: 55.5\n",
    )
    assert "Name: AAPL Inc." in read["fundamentals"]
    assert "2024-12-31,Revenue,12.5,USD" in read["fundamentals"]
    assert read["news"] == "### Up (wire, 2025-03-01T10:00:00Z)\nIt rises."
    assert "no macroeconomic series is known" in read["macro"]
    assert read["markets"].startswith("DATA_UNAVAILABLE: the market view of 2025-03-03 has no prediction markets")
    assert read["posts"] == tradingagents.SOCIAL
    assert read["frame"].splitlines()[-1] == "2025-02-28,118.0,120.0,117.0,119.0,1000"
    assert "AAPL Inc." in read["identity"]
    assert read["config"] == {"output_language": "English", "max_debate_rounds": 2, "checkpoint_enabled": False}
    # Closes of 111 and 116, and of 189 and 184.
    assert read["returns"] == pytest.approx([116 / 111 - 1, 116 / 111 - 184 / 189, 5])
    assert read["network"].startswith("no connection to 192.0.2.1")
    # One turn's tool calls are made in their order, so that a resumed day can repeat them.
    reads = [request for request in session.requests if request["type"] == "read"]
    about_aapl = [request["tool"] for request in reads if request["arguments"].get("symbol") == "AAPL"]
    assert about_aapl[:3] == ["get_bars", "get_indicators", "get_indicators"]
    indicators = [request["arguments"]["indicators"] for request in reads if request["tool"] == "get_indicators"]
    assert indicators == [["rsi_14"], ["sma_50"]] * 2
    # Bars for returns are read once a day, and so is what has none.
    assert read["unknown"] == [[None, None, None]] * 2
    symbols = [request["arguments"]["symbol"] for request in reads if request["tool"] == "get_bars"]
    assert (symbols.count("AAPL"), symbols.count("SPY")) == (2, 1)


def test_its_memory_is_in_the_state() -> None:
    """Goal: the memory log of a day is there on the next one, in another process, and stays within its limit."""
    first, second = sessions(days=2)
    trade_day(first, {"AAPL": "Hold", "IBM": "Hold"})
    assert first.state["memory_log"].count("ENTRY_END") == 2
    second.state = first.state
    trade_day(second, {"AAPL": "Hold", "IBM": "Hold"}, "--memory-entries", "3")
    assert "[2025-03-03 | AAPL | pending]" in market_report(second.decision or "", "AAPL")["past"]
    assert second.state["memory_log"].count("ENTRY_END") == 3
    entries = "".join(f"[{number}] {'x' * 100}<!-- ENTRY_END -->" for number in range(50))
    kept = tradingagents.newest_entries(entries, 50, 2000)
    assert len(kept) <= 1002
    assert kept.startswith("[4")


def test_what_is_not_a_rating_is_not_a_hold() -> None:
    """Goal: a decision without a readable rating is named so, and places no order."""
    session = sessions(book=Book(held={"IBM": 5}))[0]
    played, _ = trade_day(session, {"AAPL": "none of them", "IBM": "Hold"})
    assert played.returncode == 0, played.stderr
    assert session.orders == []
    assert (session.decision or "").startswith("AAPL: no rating\nIBM: Hold\n")
    assert "# AAPL: no rating could be read" in (session.decision or "")
    for text, rating in (
        ("**Rating**: Overweight", "Overweight"),
        ("FINAL RATING - **sell**", "Sell"),
        ("I would buy here.", "Buy"),
        ("Nothing to say.", None),
        ("The shareholders were sold out.", None),
    ):
        assert tradingagents.parse_rating(text) == rating, text


def test_a_failed_analysis_fails_the_day() -> None:
    """Goal: an error of TradingAgents is not a completed day, unless it may continue with the other symbols."""
    session = sessions()[0]
    played, _ = trade_day(session, {"IBM": "Hold"})
    assert played.returncode != 0
    assert session.ended is None
    session = sessions()[0]
    played, _ = trade_day(session, {"IBM": "Buy"}, "--keep-going")
    assert played.returncode == 0, played.stderr
    assert "# AAPL: failed" in (session.decision or "")
    assert [order["symbol"] for order in session.orders] == ["IBM"]


def test_without_the_package_it_says_what_to_install() -> None:
    """Goal: a missing package is named before the first day."""
    command = python("-m", "papertape.adapters.tradingagents")
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ran.returncode == 1
    assert "TradingAgents is not installed" in ran.stderr


def account(cash: float, **held: tuple[float, float]) -> Account:
    """An account with these quantities at these prices."""
    positions = [
        {"symbol": symbol, "quantity": quantity, "avg_price": price, "price": price, "market_value": quantity * price}
        for symbol, (quantity, price) in held.items()
    ]
    equity = cash + sum(quantity * price for quantity, price in held.values())
    return Account.of({"cash": cash, "equity": equity, "positions": positions, "pending_orders": []})


def test_sizing() -> None:
    """Goal: targets, the cap of gross exposure, the reserve and the smallest order are those of a desk."""
    rules = sizing.Sizing()
    prices = {"A": 10.0, "B": 20.0, "C": 50.0, "D": 100.0, "E": 10.0}
    # 10,000 of equity: a Buy is 2,500, an Overweight 1,500, an Underweight at most 750.
    book = account(5000, A=(100, 10.0), B=(150, 20.0), C=(20, 50.0))
    ratings = {"A": "Buy", "B": "Underweight", "C": "Sell", "D": "Overweight", "E": "Underweight"}
    assert sizing.closing_orders(ratings, book, prices, rules) == {"B": 112, "C": 20}
    assert sizing.opening_orders(ratings, book, prices, rules) == {"A": 150, "D": 15}
    # Less cash than wanted, less the reserve of 2 %: all get the same share.
    tight = account(1000, A=(100, 10.0), X=(80, 100.0))
    share = (1000 - 200) / (1500 + 2500)
    assert sizing.opening_orders({"A": "Buy", "E": "Buy"}, tight, prices, rules) == {
        "A": int(1500 * share / 10),
        "E": int(2500 * share / 10),
    }
    assert sizing.opening_orders({"A": "Hold", "E": "Hold"}, book, prices, rules) == {}
    half = sizing.Sizing(gross_cap=0.5)
    assert sizing.opening_orders({"D": "Buy"}, book, prices, half) == {}
    assert sizing.opening_orders({"D": "Buy"}, account(100_000), {"D": 100_000.0}, rules) == {}
    fractional = sizing.Sizing(lot=0.01)
    assert sizing.opening_orders({"D": "Buy"}, account(1000), {"D": 300.0}, fractional) == {"D": pytest.approx(0.83)}
