"""A provider of delegation tokens for tests (FakeTokens.java), compiled against a release of Spark."""

from __future__ import annotations

import subprocess
from pathlib import Path

from common.cachedir import ToolError

SOURCE = Path(__file__).with_name("FakeTokens.java")
SERVICES = "META-INF/services/org.apache.spark.security.HadoopDelegationTokenProvider"


def compiled(home: Path, folder: Path) -> Path:
    """The class path entry with the provider in it, below `folder`; ToolError when it does not compile."""
    target = folder / "fake-tokens"
    (target / SERVICES).parent.mkdir(parents=True)
    (target / SERVICES).write_text("FakeTokens\n")
    command = ["javac", "-proc:none", "-cp", f"{home / 'jars'}/*", "-d", str(target), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError(f"{SOURCE.name} cannot be compiled:\n{done.stderr[-1000:]}")
    return target
