"""`make requirements`: the exact versions and hashes of what the action, the tests and a release install.

uv resolves pyproject.toml once for every Python and system. pip then compares each file with its hashes, so a
new file of a registry changes nothing until somebody runs this and commits the result.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
UV = "uv==0.13.9"
OLDEST_PYTHON = "3.11"
EDITABLE = "editables==0.6"
"""What hatchling needs for `pip install --editable`."""
AIRFLOW = "apache-airflow==3.3.2"
"""The Airflow with which the operator is tested."""
FILES: dict[str, tuple[list[str], list[str]]] = {
    "sparkgen.txt": ([], []),
    "dev.txt": (["--extra", "dev"], []),
    "airflow.txt": (["--extra", "cluster"], [AIRFLOW]),
}
"""Each file: uv's options, and what it has beside sparkgen's own dependencies and the build backend."""
HEADER = "# Written by make requirements.\n"


def main() -> int:
    """Write every file; 1 where uv cannot be installed or finds no versions."""
    FOLDER.mkdir(exist_ok=True)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    with tempfile.TemporaryDirectory() as work:
        backend = Path(work, "build.in")
        backend.write_text("".join(f"{one}\n" for one in [*build, EDITABLE]))
        subprocess.run([sys.executable, "-I", "-m", "venv", f"{work}/uv"], check=True)
        subprocess.run([f"{work}/uv/bin/python", "-I", "-m", "pip", "install", "--quiet", UV], check=True)
        for name, (more, others) in FILES.items():
            added = Path(work, f"{name}.in")
            added.write_text("".join(f"{one}\n" for one in others))
            command = [
                *(f"{work}/uv/bin/uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"),
                *("--no-header", "--no-annotate", "--python-version", OLDEST_PYTHON, *more),
                *("--output-file", f"{work}/{name}", "pyproject.toml", str(backend), str(added)),
            ]
            if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
                return code
            text = Path(work, name).read_text("utf-8")
            (FOLDER / name).write_text(HEADER + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
