"""Many documents through the chart's own templates in one helm process: its start costs more than a document.

The chart is copied without its entry and its schema; a template of ours calls `sparkgen.examine`, the entry's
own, for each document, and gives back what it left. What is printed goes through helm's YAML reader first, so
that printing is tested too.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Value = dict[str, Any]

MOST = 400
"""Documents per process of helm, which keeps all of them in memory."""

CHART = Path(__file__).resolve().parents[2] / "charts" / "spark-app"

ENTRY = """
{{- $tables := .Files.Get "files/tables.json" | fromJson -}}
{{- $results := list -}}
{{- range $document := .Values.documents -}}
  {{- $call := dict "values" $document.value "namespace" $document.namespace "tables" $tables -}}
  {{- $_ := set $call "files" $.Files -}}
  {{- template "sparkgen.examine" $call -}}
  {{- $objects := list -}}
  {{- range $object := $call.objects -}}
    {{- $released := dict "object" $object "target" $call.app.target -}}
    {{- template "sparkgen.released" $released -}}
    {{- $objects = append $objects (include "sparkgen.print" $released.object | printf "%s\\n" | fromYaml) -}}
  {{- end -}}
  {{- $results = append $results (dict "problems" $call.problems "objects" $objects) -}}
{{- end -}}
results: {{ $results | toRawJson | b64enc }}
"""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What the chart makes of a document: its objects, or what is wrong (code, path, message, next)."""

    objects: tuple[dict[str, Any], ...]
    problems: tuple[dict[str, str], ...]


def as_values(value: Any) -> str:
    """JSON that Go's YAML reader reads back: what YAML calls unprintable is escaped, nothing else."""
    unprintable = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
    return unprintable.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False, indent=0)
    )


def render(helm: Path, documents: Sequence[Value], namespace: str = "default") -> list[Rendered]:
    """What the chart makes of each document. Its own namespace is the release's, as Helm wants it."""
    return render_texts(helm, [as_values(value) for value in documents], documents, namespace)


def render_texts(
    helm: Path, texts: Sequence[str], documents: Sequence[Value], namespace: str = "default"
) -> list[Rendered]:
    """The same for documents as text; `documents` are their values, which say the namespaces."""
    results: list[Rendered] = []
    for start in range(0, len(texts), MOST):
        part = slice(start, start + MOST)
        results += _in_one_process(helm, texts[part], documents[part], namespace)
    return results


def _in_one_process(
    helm: Path, texts: Sequence[str], documents: Sequence[Value], namespace: str
) -> list[Rendered]:
    items = []
    for text, value in zip(texts, documents, strict=True):
        indented = re.sub("([\n\x85\u2028\u2029]|^)", r"\1    ", text)  # all of YAML's line breaks
        release = (value.get("metadata") or {}).get("namespace") or namespace
        items.append(f"- namespace: {json.dumps(release)}\n  value:\n{indented}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chart = _copy(folder / "chart")
        values = folder / "values.yaml"
        values.write_text("documents:\n" + "".join(items), encoding="utf-8")
        done = subprocess.run(
            [str(helm), "template", "batch", str(chart), "--values", str(values)],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    results = json.loads(base64.b64decode(done.stdout.rpartition("results: ")[2]))
    return [Rendered(tuple(one["objects"] or ()), tuple(one["problems"] or ())) for one in results]


def _copy(target: Path) -> Path:
    """The chart with our entry in place of its own."""
    (target / "templates").mkdir(parents=True)
    shutil.copy(CHART / "Chart.yaml", target)
    shutil.copytree(CHART / "files", target / "files")
    for path in (CHART / "templates").glob("_*.tpl"):
        shutil.copy(path, target / "templates")
    (target / "templates" / "results.yaml").write_text(ENTRY, encoding="utf-8")
    return target
