"""What tests of the judged stages share."""

import pytest

from probe.models.client import Client


@pytest.fixture
def client(tmp_path):
    with Client(tmp_path / "cache", 0.0) as opened:
        yield opened
