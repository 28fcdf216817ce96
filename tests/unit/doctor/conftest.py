"""The application that the doctor runs, as it is rendered."""

from __future__ import annotations

import pytest

from sparkgen.cli.doctor import DoctorOptions, document_of
from sparkgen.preflight import Wanted
from sparkgen.usecases.apply import wanted

OPTIONS = DoctorOptions(
    image="",
    spark_version="",
    runtime_image="registry.example.com/sparkgen-runtime:1",
    values=(),
    sets=(),
    set_strings=(),
    conformance=False,
    timeout="3m",
    output="text",
)


@pytest.fixture
def application() -> Wanted:
    """With the name that chance would give it."""
    document = document_of(OPTIONS, 180, "doctor-ab12c")
    assert document is not None
    return wanted(document, "analytics")
