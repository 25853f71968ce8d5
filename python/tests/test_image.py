"""The files of the image, run as the image runs them: read-only, without a network of its own tools, as another user.

The container program is not needed: a mount namespace and chroot do the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import REPOSITORY

SCRIPTS = REPOSITORY / "scripts"
MAX_IMAGE_BYTES = 120_000_000
USER = 10001


@pytest.fixture(scope="module")
def root(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("image") / "root"
    laid_out = subprocess.run(
        ["bash", SCRIPTS / "build-image-root.sh", binary, folder], capture_output=True, text=True, check=False
    )
    assert laid_out.returncode == 0, laid_out.stderr
    assert int(laid_out.stdout) > 0
    # Other users may look for it.
    for parent in [folder, *folder.parents]:
        if parent.stat().st_uid == os.geteuid() and parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o055)
        if parent.name.startswith("pytest-of"):
            break
    return folder


def dockerfile() -> dict[str, Any]:
    """What the last stage of the Dockerfile says."""
    last = (REPOSITORY / "Dockerfile").read_text().split("\nFROM ")[-1].replace("\\\n", " ")
    lines = [line.split(None, 1) for line in last.splitlines()[1:] if line and not line.startswith("#")]
    stage = {name: value for name, value in lines if name != "ENV"}
    stage["ENV"] = dict(pair.split("=", 1) for name, value in lines if name == "ENV" for pair in value.split())
    stage["PROBE"] = json.loads(stage["HEALTHCHECK"].split("CMD", 1)[1])
    return stage


def test_the_image_is_small_and_has_no_shell(root: Path) -> None:
    """Goal: only what the program needs is there. The size of a release is stated in docs/install.md."""
    files = {str(file.relative_to(root)): file.stat().st_size for file in root.rglob("*") if file.is_file()}
    programs = [name for name in files if os.access(root / name, os.X_OK) and name.startswith("usr/bin/")]
    assert sorted(programs) == ["usr/bin/papertape", "usr/bin/wget"]
    # All but the program, which is larger without optimization.
    assert sum(size for name, size in files.items() if name != "usr/bin/papertape") < 10_000_000
    release = REPOSITORY / "target" / "release" / "papertape"
    if release.is_file():
        assert sum(files.values()) - files["usr/bin/papertape"] + release.stat().st_size < MAX_IMAGE_BYTES


def test_the_image_serves_on_a_read_only_root(root: Path, binary: Path, tmp_path: Path) -> None:
    """Goal: as its user and on a read-only root, it starts with tokens, its probe succeeds, and it stops on SIGTERM."""
    stage = dockerfile()
    assert stage["USER"] == f"{USER}:{USER}"
    token = subprocess.run(
        [binary, "auth", "token", "image", "--scope", "operate"],
        capture_output=True, text=True, check=True, cwd=tmp_path, env={"PATH": os.environ["PATH"]},
    ).stdout  # fmt: skip
    data = tmp_path / "data"
    data.mkdir()
    config = tmp_path / "papertape.toml"
    config.write_text(token[token.index("[[auth.tokens]]") :])
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(data, USER, USER)
    environment = stage["ENV"] | {"PAPERTAPE_LISTEN": "127.0.0.1:0"}
    # What a container program does: its mounts, then its root, directory, user and environment.
    mounts = """
        set -e
        mount --bind "$ROOT" "$ROOT"
        mount --bind "$DATA" "$ROOT/data"
        mount --bind "$CONFIG" "$ROOT/etc/papertape.toml"
        mount -t tmpfs -o mode=1777 tmpfs "$ROOT/tmp"
        mount -o remount,bind,ro "$ROOT"
        ! touch "$ROOT/written" 2>/dev/null
        exec "$PYTHON" -c "$ENTER"
    """
    program = [*json.loads(stage["ENTRYPOINT"]), *json.loads(stage["CMD"]), "--json"]
    enter = f"import os; os.chroot({str(root)!r}); os.chdir({stage['WORKDIR']!r}); "
    if is_root:
        enter += f"os.setgroups([]); os.setgid({USER}); os.setuid({USER}); "
    enter += f"os.execve({program[0]!r}, {program!r}, {environment!r})"
    namespaces = ["unshare", "--mount"] if is_root else ["unshare", "--user", "--map-root-user", "--mount"]
    given = {
        "PATH": os.environ["PATH"],
        "ROOT": str(root),
        "DATA": str(data),
        "CONFIG": str(config),
        "PYTHON": sys.executable,
        "ENTER": enter,
    }
    started = subprocess.Popen(
        [*namespaces, "bash", "-c", mounts], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert started.stdout is not None
        assert started.stderr is not None
        said = ""
        while not said.rstrip().endswith("}"):
            line = started.stdout.readline()
            assert line, started.stderr.read()
            said += line
        url = json.loads(said)["url"]
        probe = [part.replace("http://127.0.0.1:8080", url) for part in stage["PROBE"]]
        assert probe != stage["PROBE"]
        command = ["chroot", str(root), *probe] if is_root else [str(root / probe[0].lstrip("/")), *probe[1:]]
        healthy = subprocess.run(command, capture_output=True, text=True)
        # /dev/null is the container's; here there is none.
        assert healthy.returncode == 0 or "/dev/null" in healthy.stderr, healthy.stderr
        written = subprocess.run(
            [str(root / "usr/bin/wget"), "-q", "-O", "-", f"{url}/health"], capture_output=True, text=True
        )
        assert json.loads(written.stdout) == {"status": "ok"}
        broken = subprocess.run([str(root / "usr/bin/wget"), "-q", "-O", "-", f"{url}/nothing"], capture_output=True)
        assert broken.returncode != 0, "the probe does not see a failure"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{url}/jobs")
        owner = (data / "papertape.db").stat().st_uid
        assert owner == (USER if is_root else os.geteuid())
    finally:
        started.terminate()
        assert started.wait(30) == 0
        started.stdout.close()  # type: ignore[union-attr]
        started.stderr.close()  # type: ignore[union-attr]
    assert not list(root.glob("data/*"))


def test_compose_is_a_configuration_that_the_program_takes(binary: Path, tmp_path: Path) -> None:
    """Goal: every service has what it needs, and the program knows each of its variables."""
    text = (REPOSITORY / "compose.yaml").read_text()
    compose = yaml.safe_load(text)
    assert set(compose["services"]) == {"database", "server", "worker"}
    assert compose["services"]["worker"]["deploy"]["replicas"] == 2
    commands = {"server": dockerfile()["CMD"], "worker": json.dumps(compose["services"]["worker"]["command"])}
    for name, command in commands.items():
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["depends_on"]["database"]["condition"] == "service_healthy"
        environment = {"PATH": os.environ["PATH"]} | dockerfile()["ENV"]
        config = next(volume for volume in service["volumes"] if volume.endswith(":ro"))
        assert config.split(":")[1] == environment.pop("PAPERTAPE_CONFIG")
        for key, value in service["environment"].items():
            environment[key] = value.replace("${POSTGRES_PASSWORD:?write it to .env}", "secret")
        shown = subprocess.run(
            [binary, "config", "show", "--json"], capture_output=True, text=True, env=environment, cwd=tmp_path
        )
        assert shown.returncode == 0, shown.stderr
        assert "postgres://" in shown.stdout
        (first,) = json.loads(command)
        assert subprocess.run([binary, first, "--help"], capture_output=True, env={"PATH": ""}).returncode == 0


def test_archives_are_reproducible_and_have_checksums(binary: Path, tmp_path: Path) -> None:
    """Goal: the same program gives the same archive, and its checksum verifies."""
    small = tmp_path / "papertape"
    small.write_bytes(Path("/bin/true").read_bytes())
    fake = tmp_path / "bin"
    fake.mkdir()
    # The archive's name has the program's version: a program that says it, and is quickly packed.
    small.write_text('#!/bin/sh\necho "papertape 1.2.3"\n')
    small.chmod(0o755)
    (fake / "strip").write_text("#!/bin/sh\nexit 0\n")
    (fake / "strip").chmod(0o755)
    environment = os.environ | {"PATH": f"{fake}{os.pathsep}{os.environ['PATH']}"}
    packed = []
    for folder in ("one", "two"):
        command = ["bash", SCRIPTS / "build-archive.sh", small, "x86_64-unknown-linux-gnu", tmp_path / folder]
        made = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        packed.append(Path(made.stdout.strip()))
    assert packed[0].name == "papertape-1.2.3-x86_64-unknown-linux-gnu.tar.gz"
    assert packed[0].read_bytes() == packed[1].read_bytes()
    with tarfile.open(packed[0]) as archive:
        assert [(one.name.split("/")[1], one.mode) for one in archive] == [
            ("LICENSE", 0o644), ("README.md", 0o644), ("papertape", 0o755),
        ]  # fmt: skip
    subprocess.run(["bash", SCRIPTS / "checksums.sh", tmp_path / "one"], check=True)
    sums = (tmp_path / "one" / "SHA256SUMS").read_text()
    assert sums == f"{hashlib.sha256(packed[0].read_bytes()).hexdigest()}  {packed[0].name}\n"


def test_the_release_runs_the_scripts_that_are_tested() -> None:
    """Goal: the workflow is well formed, pins every action, and builds with the scripts of this repository."""
    text = (REPOSITORY / ".github" / "workflows" / "release.yml").read_text()
    workflow = yaml.safe_load(text)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    for step in steps:
        if "uses" in step:
            _, _, version = step["uses"].partition("@")
            assert version.startswith("v"), step["uses"]
            assert version.count(".") == 2, f"{step['uses']} is not pinned to a version"
    run = "\n".join(step.get("run", "") for step in steps)
    for script in ("build-wheel.sh", "build-archive.sh", "checksums.sh"):
        assert f"scripts/{script}" in run, script
        assert (SCRIPTS / script).is_file()
    assert "build-image-root.sh" in (REPOSITORY / "Dockerfile").read_text()
