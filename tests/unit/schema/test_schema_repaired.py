"""A document with a wrong form is still asked for its meaning, where what was meant is certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.validate import check

HEAD = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {name: pi}
spec:
  image: docker.io/apache/spark:3.5.8
  mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
"""

CASES = {
    "a misspelt name": (
        '  type: Python\n  sparkVersion: "3.5.8"\n  driver: {memory: 1Gi}\n  executor: {instnces: 2}\n',
        {"SG010", "SG101"},
    ),
    "an unquoted version": (
        "  type: Python\n  sparkVersion: 3.5\n  driver: {memory: 1Gi}\n",
        {"SG012", "SG101"},
    ),
    "a value in another case": (
        '  type: python\n  sparkVersion: "3.5.8"\n  driver: {memory: 1Gi}\n',
        {"SG013", "SG101"},
    ),
    "a misspelt list that others refer to": (
        '  type: Python\n  sparkVersion: "3.5.8"\n  volumess: [{name: x, emptyDir: {}}]\n'
        "  driver: {volumeMounts: [{name: x, mountPath: /x}]}\n",
        {"SG010"},
    ),
    "a missing field, whatever it would be": (
        "  type: Python\n  driver: {memory: 1Gi}\n",
        {"SG011", "SG101"},
    ),
    "a map where a list belongs": (
        '  type: Python\n  sparkVersion: "3.5.8"\n  arguments: {a: b}\n  driver: {memory: 1Gi}\n',
        {"SG012", "SG101"},
    ),
}


@pytest.mark.parametrize(("body", "codes"), CASES.values(), ids=CASES.keys())
def test_form_and_meaning_at_once(body: str, codes: set[str], tmp_path: Path) -> None:
    """All that is certain is told in one run, and nothing that only follows from another mistake."""
    file = tmp_path / "app.yaml"
    file.write_text(HEAD + body, encoding="utf-8")
    checked = check(Inputs(sources=(str(file),)), lambda: b"")
    assert {problem.code for problem in checked.problems} == codes
