"""`make docs`: the documentation as a site in build/site, and what is wrong with it or with its English.

    .venv/bin/python tools/docs/site.py

It needs the extra `docs`. mkdocs refuses dead links in Markdown; here pages are read as browsers
have them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docs import check as docs_check
from docs import prose

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
SPELLING = [
    sys.executable,
    "-m",
    "codespell_lib",
    "README.md",
    "CONTRIBUTING.md",
    "docs",
    "sparkgen",
    "schemas",
]
QUIET = {"NO_MKDOCS_2_WARNING": "1"}
"""The theme would announce its successor at every build (docs/design/dependencies.md says what it is)."""


def main() -> int:
    """Build and check; 1 when something is wrong, which was said."""
    if prose.main([]) or subprocess.run(SPELLING, cwd=ROOT, check=False).returncode:
        return 1
    mkdocs = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--clean",
    ]  # --quiet would swallow what strict counts
    if subprocess.run(mkdocs, cwd=ROOT, env={**os.environ, **QUIET}, check=False).returncode:
        return 1
    problems = docs_check.problems(SITE)
    print("\n".join([*problems, f"{len(problems)} problems"]) if problems else f"open {SITE}/index.html")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
