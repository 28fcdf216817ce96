"""Rules about notebooks: what has another effect than it says."""

from __future__ import annotations

import pytest

from sparkgen.semantics.registry import findings_of
from tests.unit.semantics.documents import whole

NAMED = "token: {name: ada-notebook, key: token}"

MOUNTED = "{{volumes: [{{name: v, emptyDir: {{}}}}], driver: {{volumeMounts: [{{name: v, mountPath: {}}}]}}}}"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("{}", []),
        (f"{{notebook: {{{NAMED}, kernelIdleTimeout: 1s}}}}", []),
        (f"{{notebook: {{{NAMED}, kernelIdleTimeout: '30'}}}}", ["SG199"]),
        (f"{{notebook: {{{NAMED}, kernelIdleTimeout: 0s}}}}", ["SG199"]),
        (f"{{notebook: {{{NAMED}, kernelIdleTimeout: 1h30m}}}}", ["SG103"]),
        ("{driver: {env: [{name: HOME, value: /root}]}}", ["SG163"]),
        ("{driver: {env: [{name: SPARK_CONF_DIR, value: /x}]}}", ["SG163"]),
        (MOUNTED.format("/home/spark/"), ["SG199"]),
        (MOUNTED.format("/home/spark/data"), []),
        ("{executor: {env: [{name: HOME, value: /root}]}}", []),
        ("{driver: {env: [{name: JUPYTER_CONFIG_DIR, value: /x}]}}", []),
        ("{driver: {ports: [{name: notebook, containerPort: 9000}]}}", ["SG161"]),
    ],
)
def test_rules_of_notebooks(spec: str, expected: list[str]) -> None:
    """Each with its code; what is right has none."""
    document = whole(f"kind: SparkNotebook\nspec: {spec}")
    assert [rule.code for rule, _ in findings_of(document)] == expected
