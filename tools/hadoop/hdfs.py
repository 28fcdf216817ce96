"""A secure HDFS for tests: a NameNode and DataNodes with Kerberos, delegation tokens and block tokens.

    with hdfs.running(folder, kdc, namenode, datanodes, hdfs.Lives()) as it:
        it.shell("-mkdir -p /user/alice", "-chown alice /user/alice")
        it.client_conf                     # the properties of whoever asks it

Without a KDC it is one that believes whatever name it is told.

Its programs are one jar of Hadoop (hadoop-client-minicluster) beside the jars of a release of Spark.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.cachedir import ToolError
from common.command import run
from common.process_usage import cpu_seconds
from hadoop.kdc import REALM, Kdc
from hadoop.place import Place
from spark import maven_folder, spark_home
from sparkgen.resources.text import hadoop_xml
from sparkgen.spark_versions import NEWEST

SPARK_VERSION = NEWEST.version
"""The release that has the Hadoop of PACKAGE among its jars."""
PACKAGE = "org.apache.hadoop:hadoop-client-minicluster:3.5.0"
OF_SPARK = ("org.apache.hadoop:hadoop-client-api", "org.apache.hadoop:hadoop-client-runtime")
"""What PACKAGE needs, and Spark has."""
NAMENODE_PORT = 8020
START_SECONDS = 240.0
"""On an idle machine it takes 17."""
PRINCIPAL, WEB_PRINCIPAL = "hdfs/cluster", "HTTP/cluster"
SHELL = Path(__file__).with_name("Shell.java")
QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # and slow at encryption
LOGGING = """\
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""


@dataclass(frozen=True, slots=True)
class Lives:
    """For how many seconds a token lives unless it is renewed, and at most."""

    renewal: int = 900
    maximum: int = 1800


def jars() -> str:
    """The class path of all programs; ToolError when Maven Central or PyPI does not give it."""
    home = spark_home.ensure(SPARK_VERSION)
    repository = maven_folder.ensure(SPARK_VERSION, PACKAGE, OF_SPARK)
    group, name, version = PACKAGE.split(":")
    jar = repository / group.replace(".", "/") / name / version / f"{name}-{version}.jar"
    return f"{jar}:{home / 'jars'}/*"


@dataclass
class Hdfs:
    """An HDFS with all that it has in `folder`. `gateway`: the user who may act for all others."""

    folder: Path
    kdc: Kdc | None
    namenode: Place
    datanodes: Sequence[Place]
    lives: Lives = field(default_factory=Lives)
    protection: str = "authentication"
    """Of calls and of data: "privacy" encrypts both."""
    block_size: int = 128 << 20
    """Of files that `shell` writes, in bytes."""
    gateway: str = "gateway"
    port: int = NAMENODE_PORT
    """The NameNode's; DataNodes take what is free."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """More Hadoop properties, of its programs and of clients."""
    java_options: Sequence[str] = QUICK_START
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Write all files; nothing runs yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.keytab = self.kdc.keytab(PRINCIPAL, WEB_PRINCIPAL) if self.kdc else Path()
        self._class_path = jars()
        hosts = [self.namenode, *self.datanodes]
        lines = ["127.0.0.1 localhost", *(f"{place.address} {place.name}" for place in hosts)]
        lines += [f"127.0.0.1 {os.uname().nodename}"]
        (self.folder / "hosts").write_text("\n".join(lines) + "\n")
        self._configure("client", self.client_conf)
        self._configure("namenode", {**self.client_conf, **self._server_conf(), **self._namenode_conf()})
        for place in self.datanodes:
            own = self._datanode_conf(place)
            self._configure(place.name, {**self.client_conf, **self._server_conf(), **own})

    @property
    def url(self) -> str:
        """The file system, as clients name it: by its address, which needs no name server."""
        return f"hdfs://{self.namenode.address}:{self.port}"

    @property
    def client_conf(self) -> Mapping[str, str]:
        """The properties of clients."""
        common = {
            "fs.defaultFS": self.url,
            "dfs.replication": "1",
            "dfs.blocksize": str(self.block_size),
            **self.properties,
        }
        if self.kdc is None:
            return common
        return {
            **common,
            "hadoop.security.authentication": "kerberos",
            "hadoop.rpc.protection": self.protection,
            "dfs.namenode.kerberos.principal": f"{PRINCIPAL}@{REALM}",
            "dfs.data.transfer.protection": self.protection,
            # Connections are made anew, so that a test sees when a token has ended.
            "ipc.client.connection.maxidletime": "1000",
        }

    def start(self) -> None:
        """Start all that does not run; ToolError when a program ends, or does not come in time."""
        if not (self.folder / "name").exists():
            self._java(
                "namenode", self.namenode, "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format"
            ).wait()
        self.start_namenode()
        for place in self.datanodes:
            main = "org.apache.hadoop.hdfs.server.datanode.DataNode"
            self._processes[place.name] = self._java(place.name, place, main)
        self._until(lambda: self._reported() >= len(self.datanodes), "has its DataNodes")

    def start_namenode(self) -> None:
        """Start the NameNode, and wait until it listens."""
        main = "org.apache.hadoop.hdfs.server.namenode.NameNode"
        self._processes["namenode"] = self._java("namenode", self.namenode, main)
        self._until(lambda: self.namenode.answers(self.port), "listens")

    def stop_namenode(self) -> None:
        """End the NameNode as a crash would; `start_namenode` brings it back with all it has."""
        process = self._processes.pop("namenode")
        process.kill()
        process.wait()

    def stop(self) -> None:
        """End all programs."""
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        self._processes.clear()

    def cpu_seconds(self) -> float:
        """Seconds of CPU that its running programs have used."""
        return sum(cpu_seconds(process.pid) for process in self._processes.values())

    def shell(self, *commands: str, user: tuple[str, Path] | None = None, place: Place | None = None) -> str:
        """What commands of `hdfs dfs` print ("-ls /user"), as the superuser, or a principal with its keytab.

        `place`: where they run: a DataNode that is there gets the first copy of all that is written.
        ToolError for the first one that fails.
        """
        words = [word for command in commands for word in (*command.split(), ";")]
        return run(*self.command(user, place), *words, failed=f"hdfs dfs {'; '.join(commands)}")

    def command(self, user: tuple[str, Path] | None = None, place: Place | None = None) -> list[str]:
        """The program and first arguments of `hdfs dfs`, for those whom `shell` names."""
        return [*self._client(user or (PRINCIPAL, self.keytab), place), str(SHELL)]

    def tokens(self, target: Path, renewer: str, user: tuple[str, Path]) -> None:
        """Write delegation tokens of a principal into a file, as `hdfs fetchdt` does."""
        main = "org.apache.hadoop.hdfs.tools.DelegationTokenFetcher"
        run(*self._client(user), main, "--renewer", renewer, str(target), failed="hdfs fetchdt")

    def _client(self, login: tuple[str, Path], place: Place | None = None) -> list[str]:
        principal, keytab = login
        variables = [f"KRB5PRINCIPAL={principal}@{REALM}", f"KRB5KEYTAB={keytab}"] if self.kdc else []
        return ["env", *variables, *self._command("client", place or self.namenode, "192m")]

    def _command(self, conf: str, place: Place, heap: str) -> list[str]:
        options = [f"-Djdk.net.hosts.file={self.folder}/hosts"]
        if self.kdc is not None:
            options += [f"-Djava.security.krb5.conf={self.kdc.client_conf}"]
        class_path = f"{self.folder / conf}:{self._class_path}"
        return [
            *place.enter,
            str(spark_home.java()),
            f"-Xmx{heap}",
            "-Djava.net.preferIPv4Stack=true",
            *self.java_options,
            *options,
            "-cp",
            class_path,
        ]

    def _java(self, name: str, place: Place, *main: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            command = [*self._command(name, place, "192m"), *main]
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _reported(self) -> int:
        """How many DataNodes have told the NameNode of their blocks."""
        return (self.folder / "namenode.log").read_text("utf-8", "replace").count("processReport")

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not condition():
            dead = [name for name, process in self._processes.items() if process.poll() is not None]
            if dead or time.monotonic() > deadline:
                name = (dead or ["namenode"])[0]
                log = self.folder / f"{name}.log"
                raise ToolError(
                    f"not in time: HDFS {what}; {log}:\n{log.read_text('utf-8', 'replace')[-3000:]}"
                )
            time.sleep(0.2)

    def _configure(self, name: str, properties: Mapping[str, str]) -> None:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        # What hdfs-default.xml names, it takes back from core-site.xml.
        own = {name: text for name, text in properties.items() if name.startswith("dfs.")}
        (folder / "core-site.xml").write_text(hadoop_xml(properties))
        (folder / "hdfs-site.xml").write_text(hadoop_xml(own))
        (folder / "log4j2.properties").write_text(LOGGING)

    def _server_conf(self) -> Mapping[str, str]:
        own = {"hadoop.tmp.dir": str(self.folder / "tmp")}
        if self.kdc is None:
            return own
        return own | {
            "hadoop.security.authorization": "true",
            "dfs.encrypt.data.transfer": str(self.protection == "privacy").lower(),
            "dfs.namenode.keytab.file": str(self.keytab),
            "dfs.datanode.kerberos.principal": f"{PRINCIPAL}@{REALM}",
            "dfs.datanode.keytab.file": str(self.keytab),
            "dfs.web.authentication.kerberos.principal": f"{WEB_PRINCIPAL}@{REALM}",
            "dfs.web.authentication.kerberos.keytab": str(self.keytab),
            "dfs.block.access.token.enable": "true",
            "ignore.secure.ports.for.testing": "true",
        }

    def _namenode_conf(self) -> Mapping[str, str]:
        return {
            f"hadoop.proxyuser.{self.gateway}.hosts": "*",
            f"hadoop.proxyuser.{self.gateway}.users": "bob",
            "dfs.namenode.rpc-address": f"{self.namenode.address}:{self.port}",
            "dfs.namenode.rpc-bind-host": self.namenode.address,
            "dfs.namenode.http-address": f"{self.namenode.address}:0",
            "dfs.namenode.name.dir": f"file://{self.folder}/name",
            "dfs.namenode.delegation.token.renew-interval": str(self.lives.renewal * 1000),
            "dfs.namenode.delegation.token.max-lifetime": str(self.lives.maximum * 1000),
            "dfs.namenode.safemode.extension": "0",
            "dfs.namenode.safemode.min.datanodes": str(len(self.datanodes)),
            # There is nobody to ask for the name of an address.
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        }

    def _datanode_conf(self, place: Place) -> Mapping[str, str]:
        return {
            "dfs.datanode.hostname": place.name,
            "dfs.datanode.address": f"{place.address}:0",
            "dfs.datanode.http.address": f"{place.address}:0",
            "dfs.datanode.ipc.address": f"{place.address}:0",
            "dfs.datanode.data.dir": f"file://{self.folder}/data-{place.name}",
        }


@contextmanager
def running(
    folder: Path,
    kdc: Kdc | None,
    namenode: Place,
    datanodes: Sequence[Place],
    lives: Lives,
    port: int = NAMENODE_PORT,
    **more: Any,
) -> Iterator[Hdfs]:
    """An HDFS that runs meanwhile, and is gone afterwards; `more`: fields of `Hdfs`."""
    made = Hdfs(folder, kdc, namenode, datanodes, lives, port=port, **more)
    with ExitStack() as stack:
        stack.callback(made.stop)
        made.start()
        yield made
