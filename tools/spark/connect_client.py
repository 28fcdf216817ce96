"""Spark Connect's thin client of PyPI, for the tests: installed once, kept in the cache.

The full client is the `pyspark` of a release's own tree (`spark_home.py`); what it needs beside itself is the
same.
"""

from __future__ import annotations

import sys
from pathlib import Path

from common import progress
from common.cachedir import cache_root, environment, key, publish
from common.command import run

REQUIREMENTS = (
    # The newest thin client that PyPI has; a server understands clients of earlier versions.
    "pyspark-client==4.2.0",
    "grpcio==1.85.1",
    "grpcio-status==1.85.1",
    "googleapis-common-protos==1.76.0",
    "numpy==2.4.6",
    "pandas==2.3.3",
    "protobuf==7.36.2",
    "pyarrow==26.0.1",
    "zstandard==0.25.0",
)


def folder() -> Path:
    """The folder to name in PYTHONPATH, for the Python that runs this; ToolError when it cannot be had."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    target = cache_root(environment()) / "connect-client" / f"{version}-{key(version, *REQUIREMENTS)}"
    return publish(target, _install)


def _install(target: Path) -> None:
    progress.say("installing Spark Connect's thin client (once; a minute)")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    failed = "Spark Connect's thin client cannot be installed"
    run(*command, "--target", str(target), *REQUIREMENTS, failed=failed)
