"""The generated files of charts/spark-app, which `make golden` writes.

The templates are written by hand; tables, schema, README and the files of the run come from the generator.
"""

from __future__ import annotations

import json
from pathlib import Path

from chart.readme import readme
from chart.schema import values_schema
from chart.tables import tables
from sparkgen import contract
from sparkgen.resources.text import static_text

CHART = Path(__file__).resolve().parents[2] / "charts" / "spark-app"
STATIC = (
    contract.EXECUTOR_SCRIPT_FILE,
    contract.SHUFFLE_SCRIPT_FILE,
    contract.NOTEBOOK_SCRIPT_FILE,
    contract.LOGGED_SCRIPT_FILE,
    contract.LOG_ARCHIVE_SCRIPT_FILE,
    contract.REGISTRY_PUSH_SCRIPT_FILE,
    contract.REGISTRY_GC_SCRIPT_FILE,
    contract.LOG4J2_FILE,
    contract.METRICS_FILE,
)


def generated() -> dict[str, str]:
    """Path below the chart -> the text that it must have."""
    return {
        "README.md": readme(),
        "files/tables.json": json.dumps(tables(), indent=1, sort_keys=True, ensure_ascii=False) + "\n",
        "values.schema.json": _compact(values_schema()),
        **{f"files/{name}": static_text(name) for name in STATIC},
    }


def _compact(schema: dict[str, object]) -> str:
    """A definition per line: small, and a difference is still readable."""
    text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
    for name in schema["$defs"]:  # type: ignore[attr-defined]
        text = text.replace(f'"{name}":{{', f'\n"{name}":{{', 1) if f'\n"{name}"' not in text else text
    return text + "\n"
