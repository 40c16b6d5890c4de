"""A pass of its own process, for tests that kill it: ``agent_worker.py SERVER CACHE TRANSCRIPT``."""

import sys
from pathlib import Path

from agent_fakes import Result
from agent_server import audit, pack

from probe.agent import AgentLimits, run_agent
from probe.models.client import Client
from probe.sandbox import SandboxSpec, open_sandbox


def main(url: str, cache: Path, transcript: Path) -> None:
    files = pack(transcript.with_suffix(".tar"))
    with Client(cache, 0.0) as client:
        sandbox = open_sandbox(SandboxSpec(files=files), "bubblewrap")
        try:
            result = run_agent(client, sandbox, audit(url), AgentLimits(), transcript)
        finally:
            sandbox.close()
    assert isinstance(result.answer, Result)
    sys.stdout.write(f"{result.status} {result.answer.bugs}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
