"""The init container: puts the scheduler jar where the driver's class path has it, or refuses an old run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from sparkgen import contract
from sparkgen.codes import Code
from sparkgen.runtime.allocator.driver.tuning import BadTuning, read
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
    _check_expiry(tuning, now)
    line = environment.get(contract.ENV_SCALA_VERSION, "")
    jar = jar_path(line, jars)
    if not jar.is_file():
        raise Refused(
            f"there is no scheduler jar for Scala {line or '(none named)'} in this runtime image, only for: "
            f"{', '.join(lines(jars)) or 'none'}; correct spec.scalaVersion or spec.sparkVersion"
        )
    try:
        replace_file(target, jar.read_bytes(), READABLE)
    except OSError as error:
        raise Refused(f"the scheduler jar cannot be written to {target}: {error}") from None
    return f"installed the scheduler jar for Scala {line} at {target}"


def _check_expiry(path: Path, now: datetime) -> None:
    try:
        expires_at = read(path).expires_at
    except BadTuning as error:
        raise Refused(f"{path} cannot be used: {error}") from None
    if expires_at is not None and expires_at <= now:
        raise Refused(
            f"this run expired at {_text(expires_at)}, and now is {_text(now)}: it is not started again",
            "change spec.run.expiresAt (or spec.run.id, for a run of its own), and render again",
            Code.RUN_EXPIRED,
        )


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
