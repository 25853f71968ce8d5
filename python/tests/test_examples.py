"""Every example of the repository, run as its text says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import REPOSITORY
from tests.harness import Book, doors, play, python, sessions

EXAMPLES = REPOSITORY / "examples"
STANDINS = Path(__file__).parent / "standins"


def test_every_example_has_a_test() -> None:
    """Goal: an example that is added without a test fails."""
    tested = Path(__file__).read_text()
    for file in [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")]:
        assert f'"{file.name}"' in tested, file.name


def test_an_agent_of_the_sdk_has_twenty_lines() -> None:
    """Goal: an agent is a function of at most 20 lines."""
    text = (EXAMPLES / "moving_average.py").read_text()
    function = text[text.index("@papertape.agent") : text.index("if __name__")].strip()
    assert len(function.splitlines()) <= 20


def test_moving_average() -> None:
    """Goal: it buys what rises, sells what falls, and counts days in its state."""
    book = Book(held={"IBM": 3})
    played = play(python(EXAMPLES / "moving_average.py"), sessions(days=2, book=book))
    assert played.returncode == 0, played.stderr
    first, second = played.sessions
    assert [(order["side"], order["symbol"]) for order in first.orders] == [("buy", "AAPL"), ("sell", "IBM")]
    assert second.orders == []
    assert second.state == {"days": 2}


def test_model_endpoint() -> None:
    """Goal: the model's words become orders, and those that cannot be read do not."""
    for answer, orders, decision in (
        ("**Buy**.", ["buy", "buy"], "AAPL: BUY, IBM: BUY"),
        ("sell", [], "AAPL: SELL, IBM: SELL"),
        ("I cannot say.", [], "AAPL: UNREADABLE, IBM: UNREADABLE"),
    ):
        session = sessions()[0]
        with doors(session, lambda _, answer=answer: answer) as requests:
            played = play(python(EXAMPLES / "model_endpoint.py"), [session])
        assert played.returncode == 0, played.stderr
        assert "Closes of AAPL: 110.00, 111.00" in requests[0]["messages"][0]["content"]
        assert [order["side"] for order in session.orders] == orders
        assert session.decision == decision


def test_mcp_client() -> None:
    """Goal: reads, an order and the end of the day go through MCP."""
    session = sessions()[0]
    with doors(session):
        played = play(python(EXAMPLES / "mcp_client.py"), [session])
    assert played.returncode == 0, played.stderr
    assert [order["reason"] for order in session.orders] == ["AAPL at 119.0"]
    assert session.decision == "holds one AAPL"


def test_plain_stdio() -> None:
    """Goal: the protocol needs no SDK, in at most 30 lines."""
    file = EXAMPLES / "plain_stdio.py"
    lines = [line for line in file.read_text().split('"""', 2)[2].splitlines() if line.strip()]
    assert len(lines) <= 30
    days = sessions(days=3)
    days[1].deadline_at = 2
    played = play(python(file), days)
    assert played.returncode == 0, played.stderr
    assert [session.ended for session in days] == ["completed", "deadline", "completed"]
    assert [order["symbol"] for order in days[0].orders] == ["AAPL", "IBM"]
    assert days[0].state == {"seen": "2025-03-03"}
    assert days[2].orders == []


@pytest.mark.parametrize("name", ["langgraph_react.py", "deep_agent.py"])
def test_agents_of_langchain(name: str) -> None:
    """Goal: with stand-ins for the libraries, model and tools are those of each session, and calls keep their order."""
    first, second = sessions(days=2)
    path = f"{STANDINS}{os.pathsep}{REPOSITORY / 'python'}"
    with doors(first, lambda request: "Done.") as requests, doors(second, lambda request: "Again."):
        played = play(python(EXAMPLES / name), [first, second], env=os.environ | {"PYTHONPATH": path})
    assert played.returncode == 0, played.stderr
    for session in (first, second):
        assert [(order["side"], order["symbol"]) for order in session.orders] == [("buy", "AAPL"), ("buy", "IBM")]
    assert (first.decision, second.decision) == ("Done.", "Again.")
    assert requests[0]["model"] == "test::model"
    assert "AAPL, IBM" in requests[0]["messages"][-1]["content"]


@pytest.mark.parametrize("name", ["langgraph_react.py", "deep_agent.py"])
def test_a_missing_library_is_named(name: str) -> None:
    """Goal: without the libraries, the example says what to install."""
    played = play(python(EXAMPLES / name), [])
    assert played.returncode == 1
    assert "pip install" in played.stderr


def test_the_notebook(tmp_path: Path) -> None:
    """Goal: `first_run.ipynb` runs from its first cell to its last, and finds out why an agent bought."""
    notebook = nbformat.read(EXAMPLES / "first_run.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    os.environ.setdefault("MPLBACKEND", "agg")
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = [json.dumps(output) for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("Result(" in text and "completed" in text for text in shown)
    assert any("buy " in text and "IBM" in text and "'symbol'" in text for text in shown), "there is no reason"
    assert any("True" in text for text in shown[-1:])
    assert (tmp_path / "first_run.bundle").is_file()
