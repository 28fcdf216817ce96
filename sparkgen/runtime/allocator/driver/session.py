"""The session volume: files that the driver starts with, and files that a restarted allocator continues from.

The volume is in memory and lives as long as the pod: it outlives restarts of both containers. It has four
files: `spark.properties`, `launch.properties` and `token` are for the driver, `allocator.json` is for the
next allocator. Each is replaced in one step, so that nobody reads half a file and an allocator may be killed
at any line. For kernels of a notebook, the volume is also their SPARK_CONF_DIR. In client mode, no driver
reads it and it has no token: only the allocator uses it, after a restart.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparkgen import contract
from sparkgen.jsonvalue import decode
from sparkgen.runtime.addresses import url_host
from sparkgen.runtime.allocator.driver import properties, sessions
from sparkgen.runtime.allocator.driver.driver_address import DriverAddress
from sparkgen.runtime.allocator.driver.sessions import SessionMode
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.files import replace_file

TOKEN_FILE = "token"  # noqa: S105 - a file's name
NAME_KEY_FILE = "name-key"
"""In client mode: the text that the Secret's name is derived from, because the pod does not have the
token."""
NOTES_FILE = "allocator.json"
PROPERTIES_FILE = Path(contract.SESSION_PROPERTIES).name
LAUNCH_PROPERTIES_FILE = Path(contract.SESSION_LAUNCH_PROPERTIES).name

APP_ID = "spark.app.id"
AUTHENTICATE = "spark.authenticate"
SECRET = "spark.authenticate.secret"  # noqa: S105 - a property's name
TOKEN_PROPERTY = "spark.sparkgen.tokenFile"  # noqa: S105 - a property's name
TIMEOUT_PROPERTY = "spark.sparkgen.session.timeout"
"""After how long a driver gives up an allocator that it cannot reach; never, without this property."""
OF_THE_COMMAND = ("spark.master", "spark.driver.extraClassPath")
"""In client mode, the command sets these properties: they name files and addresses of its machine."""
REVIEWED_PREFIX = "spark.sparkgen.reviewed."
REVIEWED = (
    "spark.executor.cores",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.pyspark.memory",
    "spark.executor.instances",
    "spark.dynamicAllocation.enabled",
    "spark.dynamicAllocation.minExecutors",
    "spark.dynamicAllocation.initialExecutors",
    "spark.dynamicAllocation.maxExecutors",
)
"""The reviewed size and number of executors: the jar compares these values with those that are in effect."""

_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


class BadSession(Exception):
    """A session that cannot begin; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class DriverLocation:
    """Where the driver runs, and how."""

    folder: Path
    """The session volume."""
    application_id: str
    """The application id of the pod's first driver: `<run>-<attempt>`."""
    address: str
    """The pod's address; an IPv6 address has no brackets."""
    mode: SessionMode | None = None
    """Set if drivers come and go; None if the pod has its own driver."""
    token_hash: str = ""
    """In client mode: the hash of the token that the command made."""


@dataclass(frozen=True, slots=True)
class SessionNotes:
    """What the next allocator has to know. `drivers`: the number of application ids given out so far."""

    next_id: int = 1
    """Higher than any executor id in use: no name is used twice in an attempt."""
    session: str = ""
    first_id: int = 1
    drivers: int = 1


@dataclass(slots=True)
class Session:
    """The session volume, with its files written. Every method may be called repeatedly."""

    place: DriverLocation
    rendered: Mapping[str, str]
    """The properties of spark-defaults.conf."""
    token: str
    """The token that the driver sends; in client mode, a text that nobody sends."""
    secret: str | None
    """The RPC secret; None without authentication."""
    notes: SessionNotes = field(default_factory=SessionNotes)

    @property
    def application_id(self) -> str:
        """The application id that the next driver in this pod will have."""
        return application_id(self.place.application_id, self.rendered, self.notes.drivers)

    @property
    def token_hash(self) -> str:
        """SHA-256, in hex, of the token that the driver must send."""
        return self.place.token_hash or hashlib.sha256(self.token.encode()).hexdigest()

    def name_of_secret(self, begin: str) -> str:
        """The name of the attempt's Secret, which nobody can guess without access to the session volume.

        Whoever knew the name could create a Secret of that name first, and executors would take the RPC
        secret from it. The allocator could not detect that, because nobody here may read Secrets. The name
        comes from the token, which is random, and not from the RPC secret, which a person may have chosen:
        names are not secret, and must not help to guess a secret.
        """
        return f"{begin}-{hashlib.sha256(f'name of the Secret: {self.token}'.encode()).hexdigest()[:16]}"

    def write(self, settings: AllocationSettings) -> None:
        """Write the files that the next driver starts with. Raises OSError if that fails."""
        folder, mode = self.place.folder, self.place.mode
        found = driver_properties(self, settings)
        text = properties.text_of(found)
        replace_file(folder / _token_file(mode), self.token)
        replace_file(folder / PROPERTIES_FILE, text)
        if mode is None:
            launch = launch_properties(found, folder / PROPERTIES_FILE)
            replace_file(folder / LAUNCH_PROPERTIES_FILE, properties.text_of(launch))
        if mode is SessionMode.NOTEBOOK:
            replace_file(folder / contract.SPARK_DEFAULTS_FILE, text)

    def note(self, next_id: int, session: str, first_id: int) -> None:
        """Save what a restarted allocator has to know, before anything is created that depends on it."""
        self._keep(SessionNotes(next_id, session, first_id, self.notes.drivers))

    def driver_started(self, application_id: str, settings: AllocationSettings) -> None:
        """Record that a driver runs under this id: the next one in this pod gets another id."""
        if application_id != self.application_id:
            return
        notes = self.notes
        self._keep(SessionNotes(notes.next_id, notes.session, notes.first_id, notes.drivers + 1))
        self.write(settings)

    def settings_changed(self, settings: AllocationSettings) -> None:
        """Write the changed settings, which the next driver in this pod starts with."""
        self.write(settings)

    def _keep(self, notes: SessionNotes) -> None:
        if notes == self.notes:
            return
        body = {
            "version": contract.VERSION,
            "nextId": notes.next_id,
            "session": notes.session,
            "firstId": notes.first_id,
            "drivers": notes.drivers,
        }
        replace_file(self.place.folder / NOTES_FILE, json.dumps(body) + "\n")
        self.notes = notes


def begin(
    place: DriverLocation,
    spark_defaults: str,
    settings: AllocationSettings,
    random_text: Callable[[], str],
    service_secret: str | None = None,
) -> Session:
    """Begin or continue the session of this pod, and write its files.

    `random_text` returns a new secret text at each call. `service_secret`: the secret of the shuffle service,
    which accepts no other. Raises BadSession if the document or the volume do not allow a session.
    """
    try:
        rendered = properties.parse(spark_defaults)
    except ValueError as error:
        raise BadSession(f"cannot read {contract.SPARK_DEFAULTS_FILE}: {error}") from None
    _check_application_id(rendered)
    earlier = _earlier_properties(place.folder)
    secret = None
    if rendered.get(AUTHENTICATE, "").lower() == "true":
        secret = service_secret or rendered.get(SECRET) or earlier.get(SECRET) or random_text()
    token = _text(place.folder / _token_file(place.mode)).strip() or random_text()
    session = Session(place, rendered, token, secret, _notes(place.folder))
    try:
        session.write(settings)
    except OSError as error:
        raise BadSession(
            f"cannot write to the session volume: {error}. It must be an emptyDir that the allocator's user "
            "can write to (securityContext.fsGroup)"
        ) from None
    return session


def driver_properties(
    session: Session, settings: AllocationSettings, address: DriverAddress | None = None
) -> dict[str, str]:
    """All properties of a driver: the rendered ones, and those that only the running pod knows.

    `address`: the driver's address in client mode. None is for the file in the volume, which no driver reads
    then.
    """
    mode = session.place.mode
    rendered, place = dict(session.rendered), _in_pod(session.place)
    if mode is SessionMode.CLIENT:
        rendered = {name: text for name, text in rendered.items() if name not in OF_THE_COMMAND}
        place = {} if address is None else address.properties
    found = {**rendered, **executor_bounds(settings), APP_ID: session.application_id, **place}
    found |= _attempt(session.place.folder)
    if mode is not None:
        found[TIMEOUT_PROPERTY] = sessions.DRIVER_PATIENCE
    if session.secret is not None:
        found[SECRET] = session.secret
    reviewed = {f"{REVIEWED_PREFIX}{name}": found[name] for name in REVIEWED if name in found}
    return found | reviewed


def _attempt(folder: Path) -> dict[str, str]:
    """The number of this pod's turn, if the container `concurrency` has written one."""
    try:
        text = Path(folder, Path(contract.ATTEMPT_FILE).name).read_text("utf-8").strip()
    except FileNotFoundError:
        return {}
    return {contract.ATTEMPT_PROPERTY: text}


def launch_properties(found: Mapping[str, str], file: Path) -> dict[str, str]:
    """The properties with which the driver's JVM starts. `found`: all properties of the driver, as in `file`.

    Spark's launcher reads memory, class path, library path and Java options, all of which begin with
    `spark.driver.` (SparkSubmitCommandBuilder). The master is the simplest one, so that the outer
    spark-submit only starts `DRIVER_SUBMIT`.
    """
    launch = {name: text for name, text in found.items() if name.startswith("spark.driver.")}
    return {**launch, "spark.master": "local", contract.PROPERTIES_FILE_PROPERTY: str(file)}


def _in_pod(place: DriverLocation) -> dict[str, str]:
    """The address of a driver in the allocator's pod, and the path of its token, as properties."""
    return {
        "spark.driver.host": url_host(place.address),
        "spark.driver.bindAddress": place.address,
        TOKEN_PROPERTY: str(place.folder / TOKEN_FILE),
    }


def _token_file(mode: SessionMode | None) -> str:
    return NAME_KEY_FILE if mode is SessionMode.CLIENT else TOKEN_FILE


def copy_conf(conf: Path, folder: Path) -> None:
    """Copy the files of Spark's configuration folder beside the properties, for kernels of a notebook.

    Leaves out files that the allocator writes itself. Raises OSError if that fails.
    """
    own = {TOKEN_FILE, NOTES_FILE, PROPERTIES_FILE, contract.SPARK_DEFAULTS_FILE, contract.TUNING_FILE}
    for file in sorted(conf.iterdir()):
        if file.is_file() and file.name not in own:
            replace_file(folder / file.name, file.read_bytes())


def executor_bounds(settings: AllocationSettings) -> dict[str, str]:
    """The numbers of executors as Spark's properties; spark.dynamicAllocation.enabled is rendered."""
    if not settings.dynamic:
        return {"spark.executor.instances": str(settings.instances)}
    bounds = {
        "spark.dynamicAllocation.minExecutors": str(settings.minimum),
        "spark.dynamicAllocation.initialExecutors": str(settings.initial),
    }
    if settings.maximum is not None:
        bounds["spark.dynamicAllocation.maxExecutors"] = str(settings.maximum)
    return bounds


def application_id(first: str, rendered: Mapping[str, str], driver: int) -> str:
    """The id of a pod's nth driver: the document's id, or `<run>-<attempt>`; from the second on with `-n`."""
    asked = rendered.get(APP_ID) or first
    return asked if driver == 1 else f"{asked}-{driver}"


def _check_application_id(rendered: Mapping[str, str]) -> None:
    asked = rendered.get(APP_ID)
    if asked and not _LABEL_VALUE.fullmatch(asked):
        raise BadSession(
            f"{APP_ID} is {asked!r}, but it must be a valid label value: at most 63 letters, digits, '-', "
            "'_' and '.', with a letter or digit at both ends; change it in spec.sparkConf, or delete it "
            "there"
        )


def _earlier_properties(folder: Path) -> dict[str, str]:
    try:
        return properties.parse(_text(folder / PROPERTIES_FILE))
    except ValueError:  # not ours: it is rewritten
        return {}


def _notes(folder: Path) -> SessionNotes:
    """The notes of an earlier allocator; new ones if there are none. Raises BadSession if unreadable."""
    try:
        body: Any = decode(_text(folder / NOTES_FILE) or "{}")
        return SessionNotes(
            next_id=int(body.get("nextId", 1)),
            session=str(body.get("session", "")),
            first_id=int(body.get("firstId", 1)),
            drivers=int(body.get("drivers", 1)),
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise BadSession(
            f"cannot read {folder / NOTES_FILE} ({error}), and without this file new executors would reuse "
            "the names of old ones; delete the driver's pod: the next pod starts without the file"
        ) from None


def _text(path: Path) -> str:
    """The text of a file; "" if it does not exist. Raises BadSession if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadSession(f"cannot read {path}: {error}") from None
