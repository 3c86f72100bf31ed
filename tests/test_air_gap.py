"""Nothing leaves the machine: the whole job runs without any network interface, and no code
path of the package opens a connection or looks a name up.

The weights come from installed packages; what is derived from them is built under the same rule
by whichever test comes first. At the end, the source itself is searched for anything that fetches.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
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

# Native code is not seen by Python's audit hooks. Here the kernel ends the process that makes an
# IPv4 or IPv6 socket: load the call's number, is it socket(2)? load its domain, is it 2 or 10?
_FENCE = """
import ctypes, os, platform, struct, sys

class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]

steps = [(0x20, 0, 0, 0), (0x15, 0, 4, {"x86_64": 41, "aarch64": 198}[platform.machine()]),
         (0x20, 0, 0, 16), (0x15, 1, 0, 2), (0x15, 0, 1, 10),
         (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
wanted = Filter(len(steps), ctypes.addressof(program))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(wanted)):
    sys.exit("refused")
os.execv(sys.argv[1], sys.argv[1:])
"""
_KEPT_VARIABLES = ("PATH", "LANG", "LC_", "LD_", "TMPDIR", "XDG_")


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
    # A few variables only: CI and its like make libraries quieter than they are for a person.
    own = {name: text for name, text in os.environ.items() if name.startswith(_KEPT_VARIABLES)}
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


@pytest.mark.skipif(
    platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="NOT POSSIBLE: the system calls of this machine are not known here",
)
def test_native_code_makes_no_internet_socket_and_leaves_nothing_in_the_home(
    photos: Path, tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fence = (sys.executable, "-c", _FENCE)
    code = "import socket; socket.socket(socket.AF_UNIX).close(); print('here'); socket.socket()"
    seen = subprocess.run([*fence, sys.executable, "-c", code], capture_output=True, text=True)
    if "refused" in seen.stderr:
        pytest.skip("NOT PERMITTED: seccomp is refused, native code is not watched here")
    assert (seen.stdout.strip(), seen.returncode) == ("here", -signal.SIGSYS)
    for variable in [name for name in os.environ if name.startswith("XDG_")]:
        monkeypatch.delenv(variable)
    person = tmp_path / "person"
    person.mkdir()
    environment = {"HOME": str(person), "PHOTOCRAFT_CACHE": str(shared_cache)}
    assert_it_worked(main_job(photos, tmp_path, environment, fence))
    assert list(person.rglob("*")) == []  # above all no device id of a library that reports its use


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


# --- what the source says: nothing that could fetch is there to be called ---

FETCHERS = {
    "aiohttp", "boto3", "ftplib", "huggingface_hub", "imaplib", "modelscope", "paramiko", "pip",
    "poplib", "pycurl", "requests", "smtplib", "telnetlib", "urllib.request", "urllib3",
    "websockets", "xmlrpc",
}  # fmt: skip
# A served backbone on this machine is spoken to over a Unix socket or the loopback interface;
# which addresses are taken is tested with `Endpoint`.
ONLY_IN_SERVING = {"http.client", "http.server", "httpx", "socket", "socketserver", "ssl"}
FETCHING_WORDS = {
    "hf_hub_download", "snapshot_download", "urlopen", "urlretrieve",
    "load_state_dict_from_url", "download_url_to_file", "cached_download",
}  # fmt: skip
PROGRAMS = {"aria2c", "curl", "gdown", "git", "hf", "huggingface-cli", "pip", "wget"}


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def among(name: str, modules: set[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def fetches(source: str, *, in_serving: bool = False) -> list[str]:
    """What in a module's source could fetch something."""
    tree = ast.parse(source)
    wrong = [name for name in imports(tree) if among(name, FETCHERS)]
    if not in_serving:
        wrong += [name for name in imports(tree) if among(name, ONLY_IN_SERVING)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            wrong += [name] * (name in FETCHING_WORDS)
        if isinstance(node, ast.Call):
            wrong += _calls(node)
    return wrong


def _calls(node: ast.Call) -> list[str]:
    """A hub's loader that is not held to local files; another program that fetches."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    local = any(
        word.arg == "local_files_only"
        and isinstance(word.value, ast.Constant)
        and word.value.value is True
        for word in node.keywords
    )
    if name == "from_pretrained" and not local:
        return ["from_pretrained without local_files_only=True"]
    if name in ("run", "Popen", "call", "check_call", "check_output", "system", "execvp"):
        words = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
        return [str(word) for word in words if str(word).split(" ")[0] in PROGRAMS]
    return []


def test_no_module_of_the_package_can_fetch_anything(root: Path) -> None:
    package = root / "photocraft_local"
    found = {
        str(path.relative_to(root)): fetches(
            path.read_text("utf-8"), in_serving=path.is_relative_to(package / "serving")
        )
        for folder in (package, root / "kernels")
        for path in folder.rglob("*.py")
    }
    assert len(found) > 200
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import urllib.request",
        "from urllib import request",
        "import requests as r",
        "def f():\n    from huggingface_hub import snapshot_download",
        "import socket",
        "import httpx",
        "hub.hf_hub_download('x')",
        "AutoProcessor.from_pretrained('Qwen/Qwen3-VL-8B-Instruct')",
        "AutoProcessor.from_pretrained(folder, local_files_only=maybe)",
        "subprocess.run(['curl', '-O', where])",
        "subprocess.run([sys.executable, '-m', 'pip', 'install', 'x'])",
        "os.system('wget x')",
    ],
)
def test_the_audit_of_the_source_sees_what_fetches(source: str) -> None:
    assert fetches(source)
    fine = (
        "from urllib.parse import urlsplit\nAutoProcessor.from_pretrained(x, local_files_only=True)"
    )
    assert fetches(fine) == []
