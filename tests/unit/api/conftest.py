"""A connection to the small API server of the commands' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkgen import api
from sparkgen.usecases import wait
from tests.unit.cli.conftest import DOCUMENT, kube
from tests.unit.cli.kube import Kube

__all__ = ["kube"]


@pytest.fixture
def connection(kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> api.Connection:
    """A connection to an empty namespace; `app.yaml` lies in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wait, "LOOK_SECONDS", 0.1)
    Path("app.yaml").write_text(DOCUMENT)
    return api.connect(kubeconfig=kube.kubeconfig(tmp_path))
