"""Runs a benchmark by its name: `python tools/bench NAME [OPTION ...]`, as the Makefile does it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    # The tools know each other by the names of their folders.
    sys.path[0] = str(HERE.parent)
    names = sorted(path.stem for path in HERE.glob("*.py") if "\ndef main(" in path.read_text("utf-8"))
    name, *arguments = sys.argv[1:] or [""]
    if name not in names:
        print(f"usage: python tools/bench {{{','.join(names)}}} [OPTION ...]", file=sys.stderr)
        raise SystemExit(2)
    raise SystemExit(importlib.import_module(f"bench.{name}").main(arguments))
