"""The generated files of charts/spark-app: `tools/chart/generate.py` writes them, `--check` compares.

The templates are written by hand; tables, schema, README and the files of the run come from the generator.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or name those that differ: 0 all is as it must be, 1 something differs."""
    parser = argparse.ArgumentParser(description="The generated files of charts/spark-app.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file differs")
    options = parser.parse_args(arguments)
    differing = [
        name
        for name, text in generated().items()
        if not (CHART / name).is_file() or (CHART / name).read_text("utf-8") != text
    ]
    for name in differing:
        if not options.check:
            (CHART / name).parent.mkdir(parents=True, exist_ok=True)
            (CHART / name).write_bytes(generated()[name].encode())
        print(f"{'differs' if options.check else 'wrote'}: charts/spark-app/{name}")
    return 1 if options.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
