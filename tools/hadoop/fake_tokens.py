"""A provider of delegation tokens for tests (FakeTokens.java), compiled against a release of Spark."""

from __future__ import annotations

from pathlib import Path

from common.command import run

SOURCE = Path(__file__).with_name("FakeTokens.java")
SERVICES = "META-INF/services/org.apache.spark.security.HadoopDelegationTokenProvider"


def compiled(home: Path, folder: Path) -> Path:
    """The class path entry with the provider in it, below `folder`; ToolError when it does not compile."""
    target = folder / "fake-tokens"
    (target / SERVICES).parent.mkdir(parents=True)
    (target / SERVICES).write_text("FakeTokens\n")
    command = ("javac", "-proc:none", "-cp", f"{home / 'jars'}/*", "-d", str(target), str(SOURCE))
    run(*command, failed=f"{SOURCE.name} cannot be compiled")
    return target
