"""The bench, fresh for each test."""

import pytest

from tests.api.conventions.bench import Bench


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(Bench, "done", [])
    return Bench
