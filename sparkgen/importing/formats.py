"""The formats of YAML documents: which ones import converts, and what it reports about the others.

Each format is one row. The first row that fits a document counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sparkgen.document import Node
from sparkgen.importing import apache, kubeflow
from sparkgen.importing.convert import (
    Given,
    apache_document,
    connect_document,
    kubeflow_document,
)
from sparkgen.importing.imported import Imported

Convert = Callable[[Given], Imported]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of documents: regular expressions for its API group and kind.

    `convert` makes a document of it. If it is None, `reason` and `step` say why import does not convert it;
    `finding`: a person must look at it.
    """

    group: str
    kind: str
    convert: Convert | None = None
    reason: str = ""
    step: str = ""
    finding: bool = True

    def fits(self, group: str, kind: str) -> bool:
        """Whether a document has this format."""
        return bool(re.fullmatch(self.group, group) and re.fullmatch(self.kind, kind))


_KUBEFLOW, _APACHE = re.escape(kubeflow.GROUP), re.escape(apache.GROUP)
_RENAME = (
    f"if the fields are those of kubeflow's operator, change `apiVersion` to {kubeflow.GROUP}/v1beta2, and "
    "import it again"
)

FORMATS: tuple[Format, ...] = (
    Format(_KUBEFLOW, "(Scheduled)?SparkApplication", kubeflow_document),
    Format(_KUBEFLOW, "SparkConnect", connect_document),
    Format(_APACHE, "SparkApplication", apache_document),
    Format(r"sparkgen\.dev", ".*", reason="it is already a sparkgen document", finding=False),
    Format(
        _APACHE,
        "SparkCluster",
        reason="sparkgen has no standalone clusters: each application has its own executors",
    ),
    Format(
        r"emrcontainers\..*",
        "JobRun",
        reason="import reads jobs of EMR on EKS only as JSON of `aws emr-containers`",
        step="write its `name`, `jobDriver` and `configurationOverrides` to a JSON file, and import that",
    ),
    Format(f"{_KUBEFLOW}|{_APACHE}", ".*", reason="it is not an application"),
    Format(
        ".*", ".*Spark(Application|Job|Connect)", reason="import does not know this API group", step=_RENAME
    ),
)
NO_KIND = Format("", ".*|", reason="it has no `apiVersion`: it is no object of Kubernetes", finding=False)
OTHER = Format(".*", ".*", reason="it is not a Spark application; use it unchanged", finding=False)


def format_of(root: Node) -> Format:
    """Returns the format of a document."""
    group, kind = group_and_kind(root)
    known = (row for row in FORMATS if row.fits(group, kind))
    return next(known, OTHER if root.find(("apiVersion",)) else NO_KIND)


def group_and_kind(root: Node) -> tuple[str, str]:
    """Returns the API group and the kind of a document; "" for each that is missing."""
    value = root.value if root.is_mapping else {}
    return str(value.get("apiVersion") or "").rpartition("/")[0], str(value.get("kind") or "")
