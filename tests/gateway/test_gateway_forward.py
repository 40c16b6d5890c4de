"""The forwarder inside the sandbox: as a bare process here, in both of its languages."""

import os
import shutil
import signal
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from gateway_helpers import until
from modelserver import Fault, ModelServer

from probe.config import ModelEntry
from probe.gateway import Caps, Gateway, client_environment, through
from probe.models.base import Model
from probe.models.ledger import Ledger

SHELL = shutil.which("sh")
LANGUAGES = ["python3", pytest.param("node", marks=pytest.mark.node)]


@pytest.fixture
def only(tmp_path):
    """An environment whose PATH holds one language, besides what the tests' commands use."""

    def make(language):
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in {language, "sh", "sleep", "cat"}:
            (folder / name).symlink_to(os.path.realpath(shutil.which(name, path="/usr/bin:/bin")))
        return {"PATH": str(folder)}

    return make


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def echo(tmp_path):
    """A unix socket that sends everything back, and at its client's end a last word."""
    path = tmp_path / "echo"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)

    def serve(client):
        with client:
            while data := client.recv(65_536):
                client.sendall(data)
            client.sendall(b"bye")

    def accept():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    thread = threading.Thread(target=accept)
    thread.start()
    yield str(path)
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def run(command, environment, path, port, **options):
    whole = through(command, socket=path, port=port)
    return subprocess.run(
        [SHELL, *whole[1:]], env=environment, capture_output=True, text=True, timeout=30, **options
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_bytes_pass_both_ways_on_many_connections_to_their_end(only, echo, port, language):
    whole = through(["cat"], socket=echo, port=port)
    process = subprocess.Popen(
        [SHELL, *whole[1:]], env=only(language), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    sent = os.urandom(300_000)

    def talk(_):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            threading.Thread(target=lambda: (client.sendall(sent), client.shutdown(1))).start()
            return b"".join(iter(lambda: client.recv(65_536), b""))

    with process:
        process.stdin.write(b"up\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"up\n"
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(talk, range(16))) == {sent + b"bye"}
        process.stdin.close()
    assert process.returncode == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_commands_streams_and_status_are_its_own(only, echo, port, language):
    environment = only(language) | {"GREETING": "with spaces; $and 'quotes'"}
    script = 'cat; echo "$GREETING" "$1"; echo oops >&2; exit 7'
    done = run(["sh", "-c", script, "x", "a  b"], environment, echo, port, input="in\n")
    assert done.stdout == "in\nwith spaces; $and 'quotes' a  b\n"
    assert done.stderr == "oops\n"
    assert done.returncode == 7


@pytest.mark.parametrize("language", LANGUAGES)
def test_signals_and_missing_commands(only, echo, port, language):
    environment = only(language)
    assert run(["sh", "-c", "kill -9 $$"], environment, echo, port).returncode == 128 + 9
    missing = run(["no-such-agent"], environment, echo, port)
    assert missing.returncode == 127
    assert "cannot start no-such-agent" in missing.stderr
    whole = through(["sh", "-c", "echo up; exec sleep 60"], socket=echo, port=port)
    with subprocess.Popen([SHELL, *whole[1:]], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM


def test_an_image_without_either_language_says_so(tmp_path, echo, port):
    done = run(["true"], {"PATH": str(tmp_path)}, echo, port)
    assert done.returncode == 127
    assert done.stderr == (
        "probe: neither python3 nor node is in this image; one is needed to reach the model\n"
    )


def test_modules_of_the_work_folder_do_not_shadow_those_of_the_forwarder(
    only, tmp_path, echo, port
):
    work = tmp_path / "work"
    work.mkdir()
    for name in ("socket.py", "threading.py"):
        (work / name).write_text("raise SystemExit('the repository was here')\n")
    environment = only("python3") | {"PYTHONPATH": str(work)}
    done = run(["sh", "-c", "echo up"], environment, echo, port, cwd=work)
    assert (done.returncode, done.stdout, done.stderr) == (0, "up\n", "")


@pytest.mark.node
def test_a_spare_node_serves_images_without_either_language(only, echo, port):
    environment = only("sh")
    whole = through(["sh", "-c", "echo up"], socket=echo, port=port, node=shutil.which("node"))
    done = subprocess.run([SHELL, *whole[1:]], env=environment, capture_output=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, b"up\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_gateway_that_is_gone_is_a_closed_connection(only, tmp_path, port, language):
    client = tmp_path / "client.py"
    client.write_text(
        "import http.client as h, sys\n"
        f"c = h.HTTPConnection('127.0.0.1', {port}, timeout=10)\n"
        "try:\n c.request('GET', '/'); c.getresponse()\n"
        "except (ConnectionError, h.HTTPException) as e: print(type(e).__name__)\n"
    )
    done = run(["/usr/bin/python3", str(client)], only(language), str(tmp_path / "none"), port)
    assert done.stdout.strip() in ("RemoteDisconnected", "ConnectionResetError")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_that_is_killed_ends_its_call_at_the_provider(only, tmp_path, port, language):
    """What a sandbox's time limit does to an agent in the middle of an answer."""
    with ModelServer() as server:
        server.answer(lambda body: "word " * 400)
        server.fail(Fault.slow_stream(0.2))
        entry = ModelEntry(litellm_id="openai/m", api_base=server.openai, price="free")
        ledger = Ledger(tmp_path / "state", 0)
        with Gateway(Model("m", entry), ledger, Caps(), purpose="x") as gateway:
            whole = through(["cat"], socket=str(gateway.socket), port=port)
            with subprocess.Popen(
                [SHELL, *whole[1:]],
                env=only(language),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            ) as process:
                process.stdin.write(b"up\n")
                process.stdin.flush()
                assert process.stdout.readline() == b"up\n"
                base = client_environment(port)["OPENAI_BASE_URL"]
                body = {"stream": True, "messages": [{"role": "user", "content": "hello"}]}
                with httpx.stream("POST", f"{base}/chat/completions", json=body) as answer:
                    parts = answer.iter_raw()
                    assert b"role" in next(parts)
                    process.kill()
                    with pytest.raises(httpx.HTTPError):
                        list(parts)
            until(lambda: gateway.report().calls == 1)
            assert gateway.report().errors == {"client_gone": 1}
        assert server.bought == []
