"""Documents for tests of the schema, written as YAML."""

from __future__ import annotations

import textwrap

from sparkgen.document.node import Document
from sparkgen.document.parse import parse
from sparkgen.errors import Problem
from sparkgen.schema import check

VALID = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata:
  name: report
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: docker.io/apache/spark:3.5.8-python3
  mainApplicationFile: local:///opt/app/report.py
"""
"""The least that is valid: nine lines. Further lines of `spec` start at line 10."""

SCHEDULED = """\
apiVersion: sparkgen.dev/v1alpha1
kind: ScheduledSparkApplication
metadata:
  name: report
spec:
  schedule: "0 3 * * *"
  template:
    type: Python
    sparkVersion: "3.5.8"
    image: docker.io/apache/spark:3.5.8-python3
    mainApplicationFile: local:///opt/app/report.py
"""


def document(text: str) -> Document:
    """The first document of a YAML text, without overlays."""
    root = parse(text.encode(), "app.yaml").documents[0].root
    assert root is not None
    return Document(root, root.value, "app.yaml", 0)


def with_spec(text: str) -> str:
    """A valid application with further lines below `spec`, from line 10 on."""
    return VALID + textwrap.indent(textwrap.dedent(text).lstrip("\n"), "  ")


def replaced(old: str, new: str) -> str:
    """A valid application with one of its texts replaced."""
    assert VALID.count(old) == 1
    return VALID.replace(old, new)


def problems(text: str) -> list[Problem]:
    """What the schema says about the first document of a text."""
    return check(document(text))


def only(text: str) -> Problem:
    """The one problem that the schema has with the first document of a text."""
    (problem,) = problems(text)
    return problem
