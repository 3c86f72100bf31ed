"""Nothing leaves the machine: the whole job runs without any network interface, and no code
path of the package opens a connection or looks a name up.

The weights come from installed packages; what is derived from them is built under the same rule
by whichever test comes first.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="CPU EXTRA ABSENT: the embedded default cannot run")

# Raised at once, in every thread, whatever library tries it. Unix sockets stay on the machine.
_GUARD = """
import sys

_FORBIDDEN = {
    "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg",
    "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo",
    "urllib.Request", "http.client.connect", "ftplib.connect", "smtplib.connect",
}

def _hook(event, arguments):
    if event in _FORBIDDEN:
        with open(%r, "a") as log:
            log.write(f"{event} {arguments!r}\\n")
        raise RuntimeError(f"the air gap was broken: {event}")

sys.addaudithook(_hook)
"""


@pytest.fixture(scope="module")
def photos(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few real photos with time and place, and one without."""
    folder = tmp_path_factory.mktemp("photos")
    for name in ("ia_DSCN0010.jpg", "im_IMG_2682.heic", "me_Apple iPhone 4.jpg", "ia_no_exif.jpg"):
        shutil.copy(shared / "data" / "exif" / name, folder)
    return folder


def main_job(
    photos: Path, folder: Path, environment: dict[str, str], prefix: tuple[str, ...] = ()
) -> list[subprocess.CompletedProcess[str]]:
    """index, search, ask and doctor, from an empty library on."""
    commands = [
        ["index", str(photos)],
        ["search", "a street in a town", "--near", "Arezzo", "-k", "1", "--json"],
        ["search", "--like", str(photos / "ia_no_exif.jpg"), "-k", "4", "--json"],
        ["ask", "photos of a building in Italy in 2008", "--json"],
        ["doctor"],
    ]
    own = {name: value for name, value in os.environ.items() if "PHOTOCRAFT_" not in name}
    environment = {**own, "PHOTOCRAFT_LIBRARY": str(folder / "library"), **environment}
    return [
        subprocess.run(
            [*prefix, sys.executable, "-m", "photocraft_local", *command],
            capture_output=True,
            text=True,
            timeout=300,
            env=environment,
        )
        for command in commands
    ]


def assert_it_worked(done: list[subprocess.CompletedProcess[str]]) -> None:
    for command in done:
        assert command.returncode in (0, 1, 7), command.stderr
        assert "air gap" not in command.stderr
        assert "Traceback" not in command.stderr
    index, search, like, ask, doctor = done
    assert index.returncode == 0
    assert "4 photos in the library" in index.stdout
    assert len(json.loads(search.stdout)["photos"]) == 1
    assert len(json.loads(like.stdout)["photos"]) == 4
    assert "Italy" in json.loads(ask.stdout)["filter"]
    assert doctor.returncode == 0


def test_the_whole_job_runs_without_any_network_interface(
    photos: Path, tmp_path: Path, shared_cache: Path
) -> None:
    alone = ("unshare", "--net", "--")
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("NOT PERMITTED: `unshare --net` is refused, the air gap is not proven here")
    interfaces = subprocess.run(
        [*alone, "cat", "/proc/net/dev"], capture_output=True, text=True, check=True
    ).stdout
    assert [line.split(":")[0].strip() for line in interfaces.splitlines()[2:]] == ["lo"]
    assert_it_worked(main_job(photos, tmp_path, {"PHOTOCRAFT_CACHE": str(shared_cache)}, alone))


def test_no_socket_is_connected_and_no_name_is_looked_up(
    photos: Path, tmp_path: Path, shared_cache: Path
) -> None:
    log = tmp_path / "log"
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(_GUARD % str(log))
    environment = {
        "PYTHONPATH": str(tmp_path / "guard"),
        "PHOTOCRAFT_CACHE": str(shared_cache),
    }
    assert_it_worked(main_job(photos, tmp_path, environment))
    assert not log.exists(), log.read_text()


def test_the_guard_itself_sees_a_connection(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_GUARD % str(tmp_path / "log"))
    code = "import socket; socket.create_connection(('localhost', 9), timeout=1)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        timeout=60,
    )
    assert done.returncode != 0
    assert "the air gap was broken: socket.getaddrinfo" in done.stderr
    assert "socket.getaddrinfo" in (tmp_path / "log").read_text()
