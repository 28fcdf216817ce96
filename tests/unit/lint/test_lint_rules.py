"""Rules of policy at their edges: what their pages promise, and documents that they must leave alone."""

from __future__ import annotations

import pytest

from sparkgen.lint.registry import RULES
from sparkgen.lint.settings import Settings
from sparkgen.lint.subject import Subject
from sparkgen.semantics.findings import APPLICATION, rules_for
from tests.unit.semantics.documents import whole

CHECKS = {rule.code: rule.check for rule in rules_for(APPLICATION, RULES)}


@pytest.mark.parametrize(
    ("code", "text", "paths"),
    [
        ("SG224", "spec: {mainApplicationFile: 'https://example.com/1.0/a.py'}", ["mainApplicationFile"]),
        ("SG224", "spec: {mainApplicationFile: 's3a://bucket/1.0/a.py'}", []),
        # Kubernetes pulls these always; the runtime image has a tag in each case.
        ("SG223", "spec: {image: 'a/b:latest'}", ["runtimeImage"]),
        ("SG223", "spec: {image: a/b}", ["runtimeImage"]),
        ("SG223", "spec: {image: 'a/b:1'}", ["runtimeImage", "image"]),
        ("SG223", "spec: {image: 'a/b:latest', imagePullPolicy: IfNotPresent}", ["imagePullPolicy"]),
        ("SG250", "kind: ScheduledSparkApplication\nspec: {schedule: '@hourly'}", []),
        ("SG250", "kind: ScheduledSparkApplication\nspec: {schedule: '0 * * * *'}", []),
        ("SG250", "kind: ScheduledSparkApplication\nspec: {schedule: '0 * * * mon'}", ["timeZone"]),
        ("SG250", "kind: ScheduledSparkApplication\nspec: {schedule: '@daily'}", ["timeZone"]),
        ("SG235", "spec: {sparkUIOptions: {ingress: {host: a.example.com}}}", ["ingress"]),
        ("SG257", "spec: {sparkUIOptions: {ingress: {host: a.example.com}}}", ["tlsSecretName"]),
        # Nothing is rendered that leads to a UI that is not there.
        *(
            (code, "spec: {sparkUIOptions: {ingress: {host: a}}, sparkConf: {spark.ui.enabled: 'false'}}", [])
            for code in ("SG235", "SG257")
        ),
        # A driver runs no tasks: its threads are not as many as `cores`.
        ("SG264", "spec: {driver: {cores: 1, coreRequest: '2'}}", []),
        ("SG264", "spec: {executor: {cores: 1, coreRequest: '2'}}", ["coreRequest"]),
        (
            "SG282",
            "spec: {driver: {priorityClassName: a}, executor: {priorityClassName: b}}",
            ["priorityClassName"],
        ),
        *(
            ("SG282", f"spec: {{batchScheduler: yunikorn, batchSchedulerOptions: {{{options}}}}}", paths)
            for options, paths in (
                ("executorPriorityClassName: low", ["priorityClassName"]),
                ("priorityClassName: high, executorPriorityClassName: low", []),
                (
                    "priorityClassName: high, executorPriorityClassName: low}, "
                    "executor: {priorityClassName: above",
                    ["priorityClassName"],
                ),
            )
        ),
    ],
)
def test_what_a_rule_reports(code: str, text: str, paths: list[str]) -> None:
    """The last part of the path of each finding."""
    found = CHECKS[code](Subject.of(whole(text), Settings()))
    assert [finding.path[-1] for finding in found] == paths


def test_what_archives_logs_is_named_where_its_image_is() -> None:
    """And not at the image of Spark, which the same container's pod has."""
    archive = "image: a/rclone:1, url: s3://logs"
    document = whole(f"spec: {{image: 'a/b@sha256:{'0' * 64}', logging: {{archive: {{{archive}}}}}}}")
    found = CHECKS["SG220"](Subject.of(document, Settings()))
    assert {finding.path[1:] for finding in found} >= {("logging", "archive", "image")}
    assert not {finding.path[1:] for finding in found} & {("driver", "image"), ("executor", "image")}
