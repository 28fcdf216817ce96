"""The life that `make bench-scale` measures (tools/bench/one_life.py)."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench import one_life
from sparkgen.runtime.allocator.report.log import Log


def test_a_life_asks_for_each_executor_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One creation and one deletion each, one list, one watch; nothing more while all is well."""
    monkeypatch.setattr(one_life, "STEADY", 0.1)
    said = io.StringIO()
    found = one_life.life(30, tmp_path, Log(said, lambda: datetime.now(UTC)))
    assert found.calls == {"GET pods": 1, "WATCH pods": 1, "POST pods": 30, "DELETE pods": 30}
    assert found.executors == 30
    assert found.memory_most >= found.memory_before > 0
    assert "30 running" in said.getvalue() or "30 registered" in said.getvalue()
