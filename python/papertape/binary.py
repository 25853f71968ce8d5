"""The program `papertape`: where it is, and how its commands are called."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from papertape.errors import BinaryNotFoundError, command_error

VARIABLE = "PAPERTAPE_BINARY"
# Variables of this package, which are nothing to the program. A token is none of its business.
OWN_VARIABLES = frozenset({VARIABLE, "PAPERTAPE_TOKEN", "PAPERTAPE_URL"})


def _candidates() -> Iterator[Path]:
    name = "papertape.exe" if os.name == "nt" else "papertape"
    yield Path(sysconfig.get_path("scripts")) / name
    if sys.prefix == sys.base_prefix:
        yield Path(sysconfig.get_path("scripts", scheme=f"{os.name}_user")) / name
    # `pip install --target DIR` puts scripts into DIR/bin.
    yield Path(__file__).resolve().parents[1] / "bin" / name


def find_binary() -> Path:
    """The path of the program: `PAPERTAPE_BINARY`, else the one installed with this package, else the one in `PATH`.

    Raises `BinaryNotFoundError` if there is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if Path(named).is_file():
            return Path(named)
        raise BinaryNotFoundError(f"{VARIABLE} is `{named}`, which is not a file")
    for candidate in _candidates():
        if candidate.is_file():
            return candidate
    found = shutil.which("papertape")
    if found is None:
        raise BinaryNotFoundError(
            f"the program `papertape` is not installed: run `pip install papertape`, or set {VARIABLE} to its path"
        )
    return Path(found)


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the program: this process's without the variables of this package."""
    return {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES} | dict(more or {})


def run_command(
    arguments: Sequence[str], *, env: Mapping[str, str] | None = None, progress: bool = False, stopped_ok: bool = False
) -> str:
    """Runs a command of the program and returns its stdout.

    `progress` passes its progress on to this process's stderr. `stopped_ok` accepts exit code 3: the job stopped and
    can be resumed. Raises `CommandError` with the program's sentence.
    """
    command = [str(find_binary()), *arguments]
    # Everything on stderr is read: it is passed on line by line, and the last error is the one to raise.
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(env)
    ) as process:
        try:
            output, errors = _communicate(process, progress=progress)
        except BaseException:
            # The program finishes its current step first, so that the job can be resumed.
            process.terminate()
            raise
    if process.returncode == 0 or (stopped_ok and process.returncode == 3):
        return output
    raise command_error(process.returncode, *_error_of(errors, process.returncode))


def run_json(
    arguments: Sequence[str], *, env: Mapping[str, str] | None = None, progress: bool = False, stopped_ok: bool = False
) -> Any:
    """Like `run_command` with `--json`, and returns the value: the same as the API's response."""
    return json.loads(run_command([*arguments, "--json"], env=env, progress=progress, stopped_ok=stopped_ok))


def _communicate(process: subprocess.Popen[bytes], *, progress: bool) -> tuple[str, str]:
    if not progress:
        output, errors = process.communicate()
        return output.decode(), errors.decode(errors="replace")
    stdout, stderr = process.stdout, process.stderr
    assert stdout is not None
    assert stderr is not None
    lines = []
    chunks: list[bytes] = []
    # Both at once: a result that nobody reads would block the program.
    reader = threading.Thread(target=lambda: chunks.append(stdout.read()))
    reader.start()
    for raw in stderr:
        line = raw.decode(errors="replace")
        lines.append(line)
        sys.stderr.write(line)
    reader.join()
    return b"".join(chunks).decode(), "".join(lines)


def _error_of(errors: str, exit_code: int) -> tuple[str, str]:
    for line in reversed(errors.splitlines()):
        if line.startswith('{"error"'):
            try:
                value = json.loads(line)
                return str(value["error"]), str(value["message"])
            except (ValueError, KeyError):
                break
    if exit_code == 2:
        # The parser of the command line writes text, with hints in further paragraphs.
        text = errors.strip().removeprefix("error: ").split("\n\n")[0]
        return "usage", text or "usage error"
    # A job that failed: its warnings and its last line, without the progress before them.
    lines = errors.strip().splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith(("warning:", "error:"))), len(lines) - 1)
    return "failed", "\n".join(lines[first:]) or f"exit code {exit_code} without a message"
