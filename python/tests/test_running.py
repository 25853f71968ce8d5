"""`papertape.run`, the program behind it, and how the program is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import papertape
from papertape.binary import find_binary, run_json
from tests.conftest import Record


def test_the_demo(binary: Path, tmp_path: Path) -> None:
    """Goal: `run(demo=True)` runs the same job as `papertape run --demo`, and reports its progress."""
    script = "import papertape; result = papertape.run(demo=True, data_dir='data', progress=True); print(result.job_id)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "house::momentum: 62 of 62 days" in ran.stderr
    source = papertape.DataDirectory(tmp_path / "data")
    assert source.results()["results"][0]["job_id"] == ran.stdout.strip()
    # The same days under the same configuration are not run again.
    again = run_json(["run", "--demo", *source.options()])
    assert again["progress"]["skipped"] == again["progress"]["total_model_days"] == 186


def test_a_large_result_is_read_next_to_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: a program that writes more than a pipe holds on both streams is read to its end."""
    program = tmp_path / "papertape"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "sys.stdout.write('[\"' + 'x' * 1_000_000 + '\"]')\nsys.stdout.flush()\nsys.stderr.write('line\\n' * 100_000)\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PAPERTAPE_BINARY", str(program))
    for progress in (False, True):
        assert len(run_json(["run"], progress=progress)[0]) == 1_000_000


def test_a_result_reads_and_proves_its_job(record: Record, tmp_path: Path) -> None:
    """Goal: options reach the program, and the result writes a bundle that verifies."""
    result = papertape.run(
        models=["house::buy_and_hold"], symbols=["MSFT"], start="2012-10-01", end="2012-10-05", cash=1234, seed=7,
        frictionless=True, memory="off", benchmark="IBM", summaries=False, data_dir=tmp_path / "data",
    )  # fmt: skip
    assert result.completed
    shown = result.results()["results"][0]
    assert shown["starting_portfolio_value"] == 1234
    assert shown["conventions"]
    assert shown["conventions"]["costs"] == "frictionless"
    assert shown["benchmark"]
    assert set(result.orders_df()["symbol"]) == {"MSFT"}
    bundle = papertape.Bundle(result.bundle(tmp_path / "b.bundle", tape="full"))
    assert bundle.verification["whole"] is True
    assert len(papertape.messages_df(bundle)) == len(result.messages_df())


def test_errors_are_the_programs_sentences(tmp_path: Path) -> None:
    """Goal: what the program rejects is an exception with its sentence, code and exit code."""
    with pytest.raises(papertape.CommandError, match="unknown provider `nope`") as unknown:
        papertape.run(models=["nope::x"], end="2012-10-05", data_dir=tmp_path)
    assert (unknown.value.exit_code, unknown.value.code) == (2, "usage")
    with pytest.raises(papertape.CommandError, match="invalid value 'tomorrow' for '--end"):
        papertape.run(end="tomorrow", data_dir=tmp_path)
    with pytest.raises(papertape.NotFoundError, match="no database"):
        papertape.equity_df(papertape.DataDirectory(tmp_path / "nothing"))
    with pytest.raises(TypeError, match="needs `end`"):
        papertape.run()
    with pytest.raises(TypeError, match="a server runs only agents of its own configuration"):
        papertape.run(end="2012-10-05", url="http://127.0.0.1:9", commands={"a": ["b"]})


def test_a_stopped_job_is_a_result(tmp_path: Path) -> None:
    """Goal: a job that stops early, here for want of budget, is returned with its status, and can be resumed."""
    result = papertape.run(
        models=["house::momentum"], symbols=["AAPL"], start="2012-10-01", end="2012-10-31", budget_tokens=30_000,
        data_dir=tmp_path,
    )  # fmt: skip
    assert not result.completed
    assert 0 < len(result.sessions_df()) < 22


def test_the_program_is_found(binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: PAPERTAPE_BINARY comes first, PATH last, and a missing program is said with what to do."""
    assert find_binary() == binary
    monkeypatch.setenv("PAPERTAPE_BINARY", str(tmp_path / "nothing"))
    with pytest.raises(papertape.BinaryNotFoundError, match="which is not a file"):
        find_binary()
    monkeypatch.delenv("PAPERTAPE_BINARY")
    monkeypatch.setattr("papertape.binary._candidates", lambda: iter(()))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(papertape.BinaryNotFoundError, match="pip install papertape"):
        find_binary()
    (tmp_path / "papertape").symlink_to(binary)
    assert find_binary() == tmp_path / "papertape"
    monkeypatch.setenv("PAPERTAPE_BINARY", str(binary))
    ran = subprocess.run(
        [sys.executable, "-m", "papertape", "jobs"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PAPERTAPE_URL"},
    )
    assert ran.returncode == 4
    assert "papertape run --demo" in ran.stderr
