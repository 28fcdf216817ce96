"""A KDC for tests: MIT Kerberos from Debian's packages, unpacked into the cache and not installed.

It listens on loopback, or where a test says (place.py), is there while a test needs it, and knows nobody but
those whom the test names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from cluster import processes
from common import progress
from common.cachedir import ToolError, cache_root, environment, key, publish
from common.command import run
from hadoop.place import LOOPBACK, Place

PACKAGES = (
    *("krb5-kdc", "krb5-admin-server", "krb5-user", "libkadm5srv-mit12", "libkadm5clnt-mit12", "libkdb5-10"),
    *("libverto1", "libverto-libev1", "libev4", "libgssrpc4", "libfaketime"),
)
"""0.7 MB; all else that they need is on any Debian."""
REALM = "SPARKGEN.TEST"
PATIENCE = 30.0
"""Seconds that the KDC may take to listen on a slow machine: it takes half of one."""


def packages() -> Path:
    """The folder with the unpacked packages; ToolError where apt-get has them not."""
    target = cache_root(environment()) / "kerberos" / key(*PACKAGES)
    return publish(target, _unpack)


def _unpack(target: Path) -> None:
    progress.say("fetching Kerberos (once)")
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise ToolError("there is no apt-get here: tests with a KDC need Debian, or what is made of it.")
    archives = target / "archives"
    archives.mkdir(parents=True)
    failed = "Kerberos cannot be fetched; try `apt-get update` first"
    run("apt-get", "download", "-q", *PACKAGES, failed=failed, cwd=archives)
    for archive in archives.glob("*.deb"):
        run("dpkg", "-x", str(archive), str(target))
    shutil.rmtree(archives)


class Kdc:
    """A KDC at `port` of an address, with all that it has in `folder`.

    `life` and `renewable`: of its tickets, in seconds.
    """

    def __init__(
        self, folder: Path, port: int, life: int = 600, renewable: int = 3600, place: Place = LOOPBACK
    ) -> None:
        """Make its database; `start` begins to serve."""
        self.folder, self.port, self.life, self.renewable = folder, port, life, renewable
        self.place = place
        self.client_conf = folder / "krb5.conf"
        """The configuration of whoever asks it (java.security.krb5.conf)."""
        self._root = packages()
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._libraries = next(self._root.glob("usr/lib/*-linux-gnu"))
        self.client_conf.write_text(self._client_text())
        (folder / "kdc.conf").write_text(self._server_text())
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "of-a-test")

    def keytab(self, *principals: str) -> Path:
        """New principals ("alice"), and one keytab for them, named after the first."""
        path = self.folder / f"{principals[0].replace('/', '-')}.keytab"
        for principal in principals:
            name = f"{principal}@{REALM}"
            self._run("kadmin.local", "-q", f"addprinc -randkey {name}")
            self._run("kadmin.local", "-q", f"ktadd -norandkey -k {path} {name}")
        return path

    def change_key(self, principal: str) -> None:
        """Give a principal another key, as somebody does who makes a new keytab: older ones are of no use."""
        self._run("kadmin.local", "-q", f"cpw -randkey {principal}@{REALM}")

    def expire(self, principal: str) -> None:
        """End a principal: the KDC gives it no more tickets."""
        self._run("kadmin.local", "-q", f"modprinc -expire yesterday {principal}@{REALM}")

    def ticket(self, principal: str, keytab: Path, cache: Path) -> None:
        """Log a principal in, and write its tickets into a cache, as kinit does."""
        command = ("-k", "-t", str(keytab), "-c", f"FILE:{cache}", f"{principal}@{REALM}")
        self._run("kinit", *command)

    def start(self, clock: str = "") -> None:
        """Serve; ToolError when it does not listen in time. `clock`: by how much its clock is off ("+1h")."""
        output = self.folder / "kdc.out"
        with output.open("ab") as log:
            process = self._process = subprocess.Popen(
                [*self.place.enter, self._program("krb5kdc"), "-n"],
                env={**self._environment(), **(self._off(clock) if clock else {})},
                stdout=log,
                stderr=log,
            )
        processes.wait_until(
            *(lambda: self.place.answers(self.port), "the KDC does not listen", output, PATIENCE),
            runs=lambda: process.poll() is None,
        )

    def stop(self) -> None:
        """Serve no more; `start` goes on with the same principals."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*self.place.enter, self._program(program), *arguments],
            env=self._environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or "while" in done.stderr:
            raise ToolError(f"{program} {arguments[0]} failed:\n{done.stderr[-1000:]}")

    def _program(self, name: str) -> str:
        folder = "bin" if name in ("kinit", "klist") else "sbin"
        return str(self._root / "usr" / folder / name)

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "LD_LIBRARY_PATH": str(self._libraries),
            "KRB5_CONFIG": str(self.client_conf),
            "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
        }

    def _off(self, clock: str) -> dict[str, str]:
        """What a program's environment has when its clock is off."""
        return {"LD_PRELOAD": str(self._libraries / "faketime" / "libfaketime.so.1"), "FAKETIME": clock}

    def _client_text(self) -> str:
        return f"""\
[libdefaults]
  default_realm = {REALM}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = {self.life}s
  renew_lifetime = {self.renewable}s
  forwardable = true
[realms]
  {REALM} = {{
    kdc = {self.place.address}:{self.port}
  }}
[domain_realm]
  localhost = {REALM}
"""

    def _server_text(self) -> str:
        return f"""\
[kdcdefaults]
  kdc_listen = {self.place.address}:{self.port}
  kdc_tcp_listen = {self.place.address}:{self.port}
[realms]
  {REALM} = {{
    database_name = {self.folder}/principal
    key_stash_file = {self.folder}/stash
    acl_file = {self.folder}/kadm5.acl
    max_life = {self.life}s
    max_renewable_life = {self.renewable}s
    master_key_type = aes256-cts
    supported_enctypes = aes256-cts:normal aes128-cts:normal
    default_principal_flags = +renewable, +forwardable, +preauth
  }}
[dbmodules]
  db_module_dir = {self._libraries}/krb5/plugins/kdb
[logging]
  kdc = FILE:{self.folder}/kdc.log
"""
