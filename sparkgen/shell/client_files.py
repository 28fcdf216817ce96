"""The private folder and the environment with which the driver of a session starts on this machine.

The folder contains the session's token and Spark's RPC secret, so they are on no command line and in no
variable. It is in memory if the system has such a place for a user ($XDG_RUNTIME_DIR).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sparkgen import contract
from sparkgen.delivery.in_place import here
from sparkgen.errors import SparkgenError
from sparkgen.live.tunnel import LOOPBACK
from sparkgen.local.launch import python
from sparkgen.model.application import Application
from sparkgen.model.kerberos import CREDENTIALS_PROPERTY, KEYTAB_PROPERTY, PRINCIPAL_PROPERTY
from sparkgen.resources import conf
from sparkgen.runtime.allocator.driver import properties as java_properties

PREFIX = "sparkgen-shell-"
LOCK_FILE = "lock"
SPARK_VERSION = "spark.sparkgen.sparkVersion"
"""The property that the scheduler jar compares with the version of the running Spark."""
IMAGE_PYTHON = "python3"
"""The Python that the stock images run; PySpark has the same default."""
_EXECUTORS_SCRIPTS = (contract.EXECUTOR_SCRIPT_FILE, contract.SHUFFLE_SCRIPT_FILE)
_LOGIN_OF_POD = (PRINCIPAL_PROPERTY, KEYTAB_PROPERTY)
_PYTHONS = ("spark.pyspark.python", "spark.pyspark.driver.python")
_SERVED_FILES = frozenset({"spark.files", "spark.archives", "spark.submit.pyFiles"})
_FILE_IN_PODS = f"file://{contract.ARTIFACTS_DIR}/"
_JAR_IN_PODS = f"local://{contract.ARTIFACTS_DIR}/"
"""The start of paths of files and jars in pods that get them; an artifact and a path in it follow."""
_ELSEWHERE = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE")
"""Variables with which PySpark would use a Connect server instead."""


@dataclass(frozen=True, slots=True)
class ClientFolder:
    """The private folder, with files that only its owner may read."""

    path: Path

    @property
    def conf(self) -> Path:
        """The driver's SPARK_CONF_DIR."""
        return self.path / "conf"

    @property
    def token(self) -> Path:
        """The file with the session's token."""
        return self.path / "token"

    @property
    def jar(self) -> Path:
        """The scheduler jar."""
        return self.path / "scheduler.jar"

    def write(self, path: Path, content: bytes) -> None:
        """Write one of its files. Raises SparkgenError if that fails."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
        except OSError as error:
            raise SparkgenError(f"cannot write {path}: {error.strerror}; free some space there") from error


_MOST_LOOKED_AT = 100_000
"""The largest number of entries of the folder for temporary files that are read."""


@contextmanager
def client_folder(environment: Mapping[str, str]) -> Iterator[ClientFolder]:
    """Yields a private folder, removed at the end. Raises SparkgenError if it cannot be created.

    Also removes the folders that killed commands have left.
    """
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    base = Path(runtime if runtime and _is_own(runtime) else tempfile.gettempdir())
    try:
        _remove_left(base)
        path, lock = _locked_folder(base)
        (path / "conf").mkdir(0o700)
    except OSError as error:
        raise SparkgenError(
            f"cannot create a private folder in {base}: {error.strerror}; set TMPDIR or XDG_RUNTIME_DIR"
        ) from error
    try:
        yield ClientFolder(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _is_own(folder: str) -> bool:
    """Whether this user owns a folder: under sudo, its owner may be another user, who could replace files."""
    try:
        return os.stat(folder).st_uid == os.getuid() and os.access(folder, os.W_OK | os.X_OK)  # noqa: PTH116
    except OSError:
        return False


def _locked_folder(base: Path) -> tuple[Path, int]:
    """Creates a new folder. Returns it, and the file descriptor of its lock."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        lock = os.open(path / LOCK_FILE, os.O_WRONLY | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return path, lock
        os.close(lock)  # another command got the lock first, and removed the folder as abandoned


def _remove_left(base: Path) -> None:
    """Remove folders of ended processes, which hold no lock. Reads at most _MOST_LOOKED_AT names."""
    with os.scandir(base) as entries:
        ours = [entry.path for entry in islice(entries, _MOST_LOOKED_AT) if entry.name.startswith(PREFIX)]
    for path in map(Path, ours):
        try:
            status = path.lstat()
            if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
                continue  # another user's, or a link, which may lead anywhere
            with (path / LOCK_FILE).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue  # it is in use, or being created


def files(
    application: Application, properties: Mapping[str, str], folder: ClientFolder, port: int, home: Path
) -> dict[str, str]:
    """Returns the files of SPARK_CONF_DIR, by name. `properties`: the driver's, from the allocator.

    They are the files of the run's ConfigMap without the executors' scripts, and Hadoop's files, which Hadoop
    finds because this folder is on the class path. `port`: of this machine; it leads to the allocator.
    `home`: the document's folder, with its local files.
    """
    shared = {
        name: text for name, text in conf.conf_files(application).items() if name not in _EXECUTORS_SCRIPTS
    }
    hadoop = conf.hadoop_files(application) if application.hadoop else {}
    text = java_properties.text_of(_properties(application, properties, folder, port, home))
    return {**shared, **hadoop, contract.SPARK_DEFAULTS_FILE: text}


def _in_place(given: Mapping[str, str], home: Path) -> dict[str, str]:
    """Returns the properties with the document's own files in place of the pushed ones.

    The driver serves them to executors, as a driver in a pod does. They are the same files, because a session
    starts only with files that have not changed since the push.
    """
    properties = dict(given)
    for name in _SERVED_FILES & properties.keys():
        properties[name] = ",".join(_place(uri, home) for uri in properties[name].split(","))
    return properties


def _place(uri: str, home: Path) -> str:
    if not uri.startswith(_FILE_IN_PODS):
        return uri
    path, mark, name = uri.removeprefix(_FILE_IN_PODS).partition("#")
    return f"{Path(_here(path, home)).as_uri()}{mark}{name}"


def _here(path: str, home: Path) -> str:
    """Returns the path on this machine of `ARTIFACT/PATH` in pods."""
    return here(home, path.partition("/")[2])


def _own_jars(given: Mapping[str, str], home: Path) -> Iterator[str]:
    """Yields the document's own jars, for the driver's class path: executors have them at another path."""
    for uri in given.get("spark.jars", "").split(","):
        if uri.startswith(_JAR_IN_PODS):
            yield _here(uri.removeprefix(_JAR_IN_PODS), home)


def _properties(
    application: Application, given: Mapping[str, str], folder: ClientFolder, port: int, home: Path
) -> dict[str, str]:
    properties = {name: text for name, text in _in_place(given, home).items() if name not in _PYTHONS}
    if "spark.jars.ivy" not in application.properties:
        properties.pop("spark.jars.ivy", None)  # this user has a home
    if application.kerberos is not None:
        properties = {name: text for name, text in properties.items() if name not in _LOGIN_OF_POD}
        properties[CREDENTIALS_PROPERTY] = "ccache"  # this user's, which is read again before tokens end
    if application.log_claim is not None:
        properties["spark.eventLog.enabled"] = "false"  # its claim is mounted in pods only
    asked = application.properties.get("spark.driver.extraClassPath")
    class_path = (str(folder.jar), *_own_jars(given, home), asked)
    return properties | {
        "spark.master": f"sparkgen://{LOOPBACK}:{port}",
        "spark.driver.extraClassPath": ":".join(filter(None, class_path)),
        "spark.sparkgen.tokenFile": str(folder.token),
        SPARK_VERSION: application.spark_version,
    }


def environment_of(
    application: Application,
    given: Mapping[str, str],
    folder: ClientFolder,
    python_path: tuple[str, ...] = (),
) -> dict[str, str]:
    """Returns the environment of the driver's program. `given`: the environment of this process.

    `python_path`: the folders with the document's modules and packages; they come first in PYTHONPATH.

    Executors run the program in PYSPARK_PYTHON, so it is the image's Python. PYSPARK_DRIVER_PYTHON is this
    machine's. SPARK_LOCAL_IP makes the UI listen only on this machine.
    """
    environment = {name: text for name, text in given.items() if name not in _ELSEWHERE}
    environment |= {
        contract.ENV_SPARK_CONF_DIR: str(folder.conf),
        "PYSPARK_PYTHON": image_python(application),
        "PYSPARK_DRIVER_PYTHON": given.get("PYSPARK_DRIVER_PYTHON") or python(given),
    }
    if python_path:
        whole = filter(None, (*python_path, given.get(contract.ENV_PYTHON_PATH)))
        environment[contract.ENV_PYTHON_PATH] = os.pathsep.join(whole)
    if not given.get(contract.ENV_LOCAL_IP):
        environment[contract.ENV_LOCAL_IP] = LOOPBACK
        environment.setdefault("SPARK_PUBLIC_DNS", "localhost")
    return environment


def image_python(application: Application) -> str:
    """Returns the Python of the executors' image."""
    if named := application.properties.get("spark.pyspark.python"):
        return named
    variables = application.driver.spec.get("env") or ()
    own = (str(variable.get("value") or "") for variable in variables if variable["name"] == "PYSPARK_PYTHON")
    return next(filter(None, own), "") or IMAGE_PYTHON
