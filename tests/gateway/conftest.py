"""Fixtures of the gateway's suites: a provider that insists on a key, and a client that lacks it."""

import httpx
import pytest
from gateway_helpers import KEY, KEY_ENV, model_at
from modelserver import ModelServer

from probe.gateway import Caps, Gateway
from probe.models.ledger import Ledger


@pytest.fixture
def server(monkeypatch):
    """A model server that answers the right key only, which is in this process's environment."""
    monkeypatch.setenv(KEY_ENV, KEY)
    with ModelServer(api_key=KEY) as running:
        yield running


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "state", 100.0)


class Opened:
    """A gateway with a client of its socket."""

    def __init__(self, gateway: Gateway, client: httpx.Client) -> None:
        self.gateway = gateway
        self.client = client

    def post(self, path: str, body: object = None, **options: object) -> httpx.Response:
        return self.client.post(path, json=body, **options)

    @property
    def report(self):
        return self.gateway.report()


@pytest.fixture
def opened(server, ledger):
    """Open gateways at the test server; all are closed at the end."""
    held: list[Opened] = []

    def make(provider: str = "openai", caps: Caps | None = None, **options: object) -> Opened:
        settings = options.pop("settings", {})
        gateway = Gateway(
            model_at(server, provider, **settings),
            options.pop("ledger", ledger),
            caps or Caps(),
            purpose="audit demo/tested/batch-001",
            **options,
        )
        gateway.__enter__()
        transport = httpx.HTTPTransport(uds=str(gateway.socket))
        client = httpx.Client(transport=transport, base_url="http://gateway", timeout=20)
        held.append(Opened(gateway, client))
        return held[-1]

    yield make
    for one in held:
        one.client.close()
        one.gateway.__exit__()
