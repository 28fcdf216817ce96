"""The init container: puts the scheduler jar where the driver's class path has it, or refuses an old run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from sparkgen import contract
from sparkgen.runtime.allocator.driver.expiry import why_expired
from sparkgen.runtime.contract_check import check_contract
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.files import replace_file
from sparkgen.runtime.jars import JARS, jar_path, lines

READABLE = 0o644


def install(
    environment: Mapping[str, str],
    now: datetime,
    *,
    jars: Path = JARS,
    tuning: Path = Path(contract.TUNING_DIR, contract.TUNING_FILE),
    target: Path = Path(contract.SCHEDULER_JAR),
) -> str:
    """Put the jar of the application's Scala line at `target`; what was done, in words. Refused otherwise."""
    check_contract(environment)
    if (expired := why_expired(tuning, now)) is not None:
        raise expired
    line = environment.get(contract.ENV_SCALA_VERSION, "")
    jar = jar_path(line, jars)
    if not jar.is_file():
        raise Refused(
            f"this runtime image has no scheduler jar for Scala {line or '(none named)'}, only for: "
            f"{', '.join(lines(jars)) or 'none'}; correct spec.scalaVersion or spec.sparkVersion"
        )
    try:
        replace_file(target, jar.read_bytes(), READABLE)
    except OSError as error:
        raise Refused(f"cannot write the scheduler jar to {target}: {error}") from None
    return f"installed the scheduler jar for Scala {line} at {target}"
