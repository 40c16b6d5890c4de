"""A guarded way to one model for agents that bring their own client.

A command-line agent runs inside a sandbox without a network. The gateway is a thread of the job
outside: it holds the key, listens on a unix socket that is mounted into the sandbox, and passes on
calls of one provider's API to one model, metered and capped. Inside, :func:`through` gives the agent
an address on 127.0.0.1 that leads to the socket, and nowhere else.
"""

from probe.gateway.account import Caps
from probe.gateway.inside import PORT, SOCKET, client_environment, through
from probe.gateway.report import GatewayLine, GatewayReport, LimitHit
from probe.gateway.server import Gateway

__all__ = [
    "PORT",
    "SOCKET",
    "Caps",
    "Gateway",
    "GatewayLine",
    "GatewayReport",
    "LimitHit",
    "client_environment",
    "through",
]
