"""How Helm reads values: measured with a chart that prints them, kept in tables that tests compare with."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
SCALARS = DATA / "helm_scalars.jsonl"
CHANGES = DATA / "helm_changes.jsonl"

BASE = "a: {b: 1, c: [x, z], d: {e: f}}\ng: text\nh: [{i: 1, j: 2}, {i: 3}]\n"
"""What most calls start from; the tables call it by its name."""

_CHART = "apiVersion: v2\nname: printer\nversion: 0.1.0\n"
_TEMPLATE = """\
{{- $kinds := dict -}}
{{- $texts := dict -}}
{{- range $key, $value := .Values -}}
{{- $_ := set $kinds $key (kindOf $value) -}}
{{- $_ := set $texts $key (toJson $value) -}}
{{- end -}}
{{ toJson (dict "values" .Values "kinds" $kinds "texts" $texts) }}
"""


@dataclass(frozen=True)
class Change:
    """One call of Helm: a chart's `defaults`, `-f` files from first to last, `--set`, `--set-string`."""

    files: tuple[str, ...]
    sets: tuple[str, ...] = ()
    set_strings: tuple[str, ...] = ()
    defaults: str = ""

    def record(self) -> dict[str, Any]:
        """The call as it stands in the table."""
        record = {
            "defaults": _named(self.defaults),
            "files": [_named(text) for text in self.files],
            "set": list(self.sets),
            "set-string": list(self.set_strings),
        }
        return {key: value for key, value in record.items() if value}


def _named(text: str) -> str:
    return "BASE" if text == BASE else text


class Refused(Exception):
    """Helm's message."""


def printed(helm: Path, change: Change) -> dict[str, Any]:
    """What a template sees: `values`, and of each key at the top kind and JSON text. Raises Refused."""
    with tempfile.TemporaryDirectory() as folder:
        chart = Path(folder) / "printer"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text(_CHART)
        (chart / "values.yaml").write_text(change.defaults)
        (chart / "templates" / "printed.yaml").write_text(_TEMPLATE)
        command = [str(helm), "template", "r", str(chart)]
        for number, text in enumerate(change.files):
            file = Path(folder) / f"{number}.yaml"
            file.write_text(text)
            command += ["-f", str(file)]
        for text in change.sets:
            command += ["--set", text]
        for text in change.set_strings:
            command += ["--set-string", text]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if result.returncode:
            raise Refused(result.stderr.replace(folder, "").strip().splitlines()[-1])
    line = next(line for line in result.stdout.splitlines() if line.startswith("{"))
    found: dict[str, Any] = json.loads(line)
    return found


def measure_scalars(helm: Path, scalars: Sequence[str], refused: set[str]) -> str:
    """The table of scalars: each as JSON, its kind in Go, or Helm's refusal.

    `refused`: those that were so before. They are tried one by one, the others in one call.
    """
    together = [scalar for scalar in scalars if scalar not in refused]
    text = "".join(f"v{number}: {scalar}\n" for number, scalar in enumerate(together))
    try:
        records = _scalar_records(helm, text, together)
    except Refused:
        records = {}
    alone = [scalar for scalar in scalars if scalar not in records]
    with ThreadPoolExecutor(2) as pool:
        records.update(zip(alone, pool.map(lambda one: _alone(helm, one), alone), strict=True))
    return _lines([records[scalar] for scalar in scalars])


def _alone(helm: Path, scalar: str) -> dict[str, str]:
    try:
        return _scalar_records(helm, f"v0: {scalar}\n", [scalar])[scalar]
    except Refused as refusal:
        return {"yaml": scalar, "refused": str(refusal)}


def _scalar_records(helm: Path, text: str, scalars: Sequence[str]) -> dict[str, dict[str, str]]:
    found = printed(helm, Change((text,)))
    return {
        scalar: {
            "yaml": scalar,
            "json": found["texts"][f"v{number}"],
            "kind": found["kinds"][f"v{number}"],
        }
        for number, scalar in enumerate(scalars)
    }


def measure_changes(helm: Path, changes: Sequence[Change]) -> str:
    """The table of merges: each call, and the values that came of it, or Helm's refusal."""

    def one(change: Change) -> dict[str, Any]:
        try:
            return {**change.record(), "values": printed(helm, change)["values"]}
        except Refused as refusal:
            return {**change.record(), "refused": str(refusal)}

    with ThreadPoolExecutor(2) as pool:
        return _lines(list(pool.map(one, changes)))


def _lines(records: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def read_table(path: Path) -> list[dict[str, Any]]:
    """A table's records; none if it was never written."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


Golden = Callable[[Path, str], None]
"""The fixture that compares a text with a file."""
