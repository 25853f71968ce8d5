"""The wheel: what is in it, and what it does in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def wheel(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel around the program that is built already: nothing is compiled."""
    output = tmp_path_factory.mktemp("wheel")
    environment = os.environ | {"MATURIN": str(Path(sys.executable).parent / "maturin")}
    command = ["bash", str(REPOSITORY / "scripts" / "build-wheel.sh"), "--binary", str(binary), "--output", str(output)]
    built = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert built.returncode == 0, built.stderr
    (file,) = output.glob("*.whl")
    assert built.stdout.split() == [str(file), str(file.stat().st_size)]
    return file


def test_a_wheel_has_the_package_and_the_program(wheel: Path) -> None:
    """Goal: every module, the mark of types and the program are in it, and nothing that is not needed."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        program = next(name for name in names if name.endswith(".data/scripts/papertape"))
        assert archive.getinfo(program).external_attr >> 16 & 0o111, "the program cannot be run"
    package = REPOSITORY / "python" / "papertape"
    sources = [*package.rglob("*.py"), package / "py.typed"]
    assert {str(file.relative_to(package.parent)) for file in sources} <= names
    assert not [name for name in names if "tests/" in name or "tools/" in name or "__pycache__" in name]
    assert wheel.name.startswith("papertape-")
    assert wheel.name.split("-", 2)[2].startswith("py3-none-")
    for line in (
        "Name: papertape",
        "Requires-Python: >=3.10",
        "Requires-Dist: httpx>=0.27,<1",
        "License-Expression: Apache-2.0",
    ):
        assert line in metadata, line
    assert "Provides-Extra: pandas" in metadata
    assert "Provides-Extra: polars" in metadata


def test_from_installation_to_a_result(wheel: Path, tmp_path: Path) -> None:
    """Goal: on a machine without Rust and without this repository, `pip install` is all that the demo needs."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    bin_folder = home / "bin"
    install = [bin_folder / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True)
    # What it depends on is that of the tests.
    site = Path(subprocess.run([bin_folder / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                               capture_output=True, text=True, check=True).stdout.strip())  # fmt: skip
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    environment = {"PATH": str(bin_folder), "HOME": str(tmp_path)}
    common = {"capture_output": True, "text": True, "env": environment, "cwd": tmp_path}
    version = subprocess.run([bin_folder / "papertape", "--version"], check=True, **common)  # type: ignore[call-overload]
    script = (
        "import papertape\n"
        "assert papertape.__version__ == '%s'\n"
        "print(papertape.find_binary())\n"
        "result = papertape.run(models=['house::momentum'], symbols=['AAPL'], start='2012-10-01', end='2012-10-05')\n"
        "print(len(result.equity_df()))\n"
    )
    ran = subprocess.run([bin_folder / "python", "-c", script % version.stdout.split()[1]], **common)  # type: ignore[call-overload]
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == [str(bin_folder / "papertape"), "5"]
    module = subprocess.run([bin_folder / "python", "-m", "papertape", "jobs", "--json"], check=True, **common)  # type: ignore[call-overload]
    assert '"completed"' in module.stdout
