"""Run the server by itself: ``python -m modelserver --port 8377`` in ``tests/``."""

import argparse
import signal
import sys
import threading
from pathlib import Path

from modelserver.server import ModelServer


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="modelserver", description=__doc__)
    parser.add_argument("--port", type=int, default=8377, help="0 takes a free one (default 8377)")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--log", type=Path, help="file that gets a line for every whole answer")
    parser.add_argument("--rpm-limit", type=int, help="requests a minute before a 429")
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with ModelServer(options.port, latency=options.latency, log=options.log) as server:
        server.rpm_limit = options.rpm_limit
        sys.stdout.write(f"{server.openai}\n")
        sys.stdout.flush()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
