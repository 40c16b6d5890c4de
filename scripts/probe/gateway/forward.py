"""Runs inside a sandbox (``python3 -c``): passes TCP connections on to a unix socket, for one command.

Arguments: socket, port, command … Nothing but the standard library of Python 3.6.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading


def pump(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until either side ends, then end the other."""
    with contextlib.suppress(OSError):
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def join(client: socket.socket, path: str) -> None:
    """Serve one connection to its end."""
    upstream = socket.socket(socket.AF_UNIX)
    with client, upstream:
        try:
            upstream.connect(path)
        except OSError:
            return
        back = threading.Thread(target=pump, args=(upstream, client), daemon=True)
        back.start()
        pump(client, upstream)
        back.join()


def accept(listener: socket.socket, path: str) -> None:
    """Serve all connections, each in a thread."""
    while True:
        client, _ = listener.accept()
        threading.Thread(target=join, args=(client, path), daemon=True).start()


def main() -> int:
    """Forward while the command runs; its exit status."""
    path, port, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    threading.Thread(target=accept, args=(listener, path), daemon=True).start()
    started: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, _: object) -> None:
        if started:
            started[0].send_signal(number)
        else:
            early.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, pass_on)
    try:
        started.append(subprocess.Popen(command))
    except OSError as error:
        sys.stderr.write(f"probe: cannot start {command[0]}: {error.strerror}\n")
        return 127
    for sent in early:
        started[0].send_signal(sent)
    status = started[0].wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
