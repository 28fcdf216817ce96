"""Both YAML parsers, for tests of what must not depend on which one is there."""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture(params=["libyaml", "pure"])
def either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with libyaml, and again with PyYAML's own parser."""
    module = importlib.import_module("sparkgen.document.parse")
    if request.param == "pure":
        monkeypatch.setattr(module, "parser_class", module._pure_parser)
    return str(request.param)
