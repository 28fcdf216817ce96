"""Secure HDFS, from a keytab to a running job: the page about it, followed to the letter."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from deployed import SMALL, spark_image
from in_pods import NEW
from pages import blocks, follow, section, shell
from secure import Secure

from cluster.handle import Cluster
from hadoop.kdc import REALM

PAGE, TITLE = "secure-hdfs.md", "From a keytab to a running job"
OWN = f"""\
    instances: 1
    memory: {SMALL["memory"]}
    coreRequest: {SMALL["coreRequest"]}
  driver: {{memory: {SMALL["memory"]}, coreRequest: {SMALL["coreRequest"]}}}
  imagePullPolicy: IfNotPresent
"""
"""What a document has here for a small machine, in place of two executors of 2g."""

pytestmark = pytest.mark.own_cluster


def replaced(text: str, words: dict[str, str]) -> str:
    """A text of the page with one's own words in it; each is there."""
    for theirs, ours in words.items():
        assert theirs in text, theirs
        text = text.replace(theirs, ours)
    return text


def test_from_a_keytab_to_a_running_job(
    cluster: Cluster, restricted: str, hadoop: Secure, tmp_path: Path
) -> None:
    """Its commands make the objects, put the program into HDFS, and run it; what it wrote is there."""
    folder = tmp_path / "work"
    folder.mkdir()
    keytab = shutil.copyfile(hadoop.keytabs["alice"], folder / "alice.keytab")
    shutil.copyfile(hadoop.kdc.client_conf, folder / "krb5.conf")
    for name in ("core-site.xml", "hdfs-site.xml"):
        shutil.copyfile(hadoop.hdfs.folder / "client" / name, folder / name)
    (folder / "orders.csv").write_text("id,country\n1,DE\n2,FR\n3,DE\n")
    (program,) = blocks(PAGE, TITLE, "python")
    (folder / program.splitlines()[0].removeprefix("# ")).write_text(program)
    own = {
        "namespace: analytics": f"namespace: {restricted}",
        "alice@EXAMPLE.COM": f"alice@{REALM}",
        'sparkVersion: "4.0.1"': f"sparkVersion: {NEW}",
        "docker.io/apache/spark:4.0.1": spark_image(NEW),
        "    instances: 2\n    memory: 2g\n": OWN,
    }
    (folder / "app.yaml").write_text(replaced(blocks(PAGE, TITLE, "yaml")[0], own))
    environment = shell(cluster, tmp_path)
    client = shlex.join(hadoop.hdfs.command(("alice", keytab)))
    (tmp_path / "bin" / "hdfs").write_text(f'#!/bin/sh\nshift\nexec {client} "$@"\n')
    (tmp_path / "bin" / "hdfs").chmod(0o755)
    script = replaced(
        section(PAGE, TITLE), {"-n analytics": f"-n {restricted}", "/etc/krb5.conf": "krb5.conf"}
    )
    printed = follow(script, folder, environment)
    assert {"DE,2", "FR,1"} <= {*printed.split()}, printed
