"""A real model server for tests: four protocols over HTTP, deterministic answers, faults on demand.

Nothing in PROBE is tested against a mock of a client library: this server speaks the providers'
wire formats on 127.0.0.1, so that litellm, command-line agents and the gateway run unchanged.
"""

from modelserver.faults import Fault
from modelserver.neutral import Asked, Reply, Tokens, Tool
from modelserver.schemas import instance
from modelserver.server import ModelServer, Received

__all__ = ["Asked", "Fault", "ModelServer", "Received", "Reply", "Tokens", "Tool", "instance"]
