"""Applications in pods on a secure HDFS: who they are there, what executors have, and what is refused."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from deployed import GO, Deployed, deploy
from in_pods import MAIN_FILE, NEW, NO_LOGIN, OLD, check, job, reason, says
from secure import Secure, encoded

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME
from sparkgen import contract

pytestmark = pytest.mark.own_cluster

JAR = "hdfs:///apps/programs.jar"
LOOK = """\
cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'
find / -xdev '(' -name '*.keytab' -o -name 'krb5cc*' ')' 2>/dev/null
ls -d /opt/sparkgen/kerberos 2>/dev/null
cat /proc/mounts
"""
"""What processes of a pod have as environment, and what there is to log in with."""


@pytest.mark.parametrize("version", [pytest.param(NEW, marks=pytest.mark.core), OLD])
def test_a_keytab_is_enough(version: str, cluster: Cluster, restricted: str, hadoop: Secure) -> None:
    """Main file and jar are fetched, files are written as the user, and another user's stay closed.

    The keytab is in one container of the driver's pod, and nowhere else: looked for while it runs.
    """
    hadoop.prepare(cluster, restricted, login=hadoop.keytabs["alice"])
    folder = f"/user/alice/{version}"
    arguments = (folder, "--of-others", "/user/bob/closed.txt", "--twice", "21", "--until", GO)
    login = hadoop.login("keytab", "alice")
    application = deploy(cluster, restricted, job("keytab", version, login, *arguments, deps={"jars": [JAR]}))
    says(application, "twice: 42")
    (executor,) = application.executors("Running")
    nothing_to_log_in_with(cluster, executor)
    kept_by_spark_alone(application, encoded(hadoop.keytabs["alice"]))
    application.touch(GO)
    assert "refused: True" in check(application, "alice")
    assert re.search(r" alice +\S+ .* /user/alice/\S+/table", hadoop.hdfs.shell(f"-ls {folder}"))


def nothing_to_log_in_with(cluster: Cluster, executor: dict[str, Any]) -> None:
    """No process of an executor's pod has a variable, a file or a mount of a login."""
    metadata, spec = executor["metadata"], executor["spec"]
    command = ("exec", "-n", metadata["namespace"], metadata["name"], "--", "sh", "-c", LOOK)
    seen = cluster.try_kubectl(*command).stdout
    assert ("SPARK_EXECUTOR_ID=" in seen, "/etc/krb5.conf" in seen) == (True, True), seen
    assert not re.search(r"^(KRB5|HADOOP_TOKEN|HADOOP_PROXY)|\.keytab|krb5cc|sparkgen/kerberos", seen, re.M)
    assert "login" not in [volume.get("secret", {}).get("secretName") for volume in spec["volumes"]]


def kept_by_spark_alone(application: Deployed, keytab: str) -> None:
    """One container mounts the keytab; no object, log or page of the UI has a byte of it."""
    cluster, namespace, pod = application.cluster, application.namespace, application.driver()
    containers = pod["spec"]["containers"] + pod["spec"].get("initContainers", [])
    mounting = [
        container["name"]
        for container in containers
        if contract.KERBEROS_VOLUME in [mount["name"] for mount in container.get("volumeMounts", [])]
    ]
    assert mounting == ["spark-kubernetes-driver"]
    objects = cluster.kubectl("get", "pods,jobs,configmaps,events", "-n", namespace, "-o", "yaml")
    page = environment_of(pod["status"]["podIP"])
    assert "spark.kerberos.keytab" in page
    for text in (objects, page, application.logs(), application.logs(contract.ALLOCATOR_CONTAINER)):
        assert keytab[:40] not in text  # its header and the principal's name, too


def environment_of(address: str) -> str:
    """What the driver's UI says of its environment."""
    base = f"http://{address}:4040/api/v1/applications"
    with network.inside(NAME):
        (one,) = json.loads(get(base))
        return get(f"{base}/{one['id']}/environment")


def get(url: str) -> str:
    """What a server answers."""
    with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - our own http address
        return str(answer.read().decode())


def test_a_gateway_acts_for_those_whom_hdfs_lets_it(
    cluster: Cluster, restricted: str, hadoop: Secure
) -> None:
    """As bob, whom the NameNode lists, and not as alice; the gateway's own rights are not used."""
    hadoop.prepare(cluster, restricted, login=hadoop.keytabs["gateway"])
    login = hadoop.login("keytab", "gateway")
    allowed = deploy(cluster, restricted, job("as-bob", NEW, login, "/user/bob/out", proxyUser="bob"))
    refused = deploy(cluster, restricted, job("as-alice", NEW, login, "/user/alice/out", proxyUser="alice"))
    check(allowed, "bob", "gateway")
    assert " bob " in hadoop.hdfs.shell("-ls /user/bob/out")
    told = reason(refused)
    assert told.startswith("HDFS does not allow the gateway to impersonate this user"), told
    assert "gateway@SPARKGEN.TEST for alice" in told


def test_tickets_and_tokens_of_a_secret_are_enough(
    cluster: Cluster, restricted: str, hadoop: Secure, tmp_path: Path
) -> None:
    """Whoever has either needs no keytab; executors get tokens. One's main file is a jar in HDFS."""
    alice = ("alice", hadoop.keytabs["alice"])
    hadoop.hdfs.tokens(tmp_path / "tokens", "alice", alice)
    hadoop.kdc.ticket(*alice, tmp_path / "tickets")
    hadoop.prepare(cluster, restricted, tokens=tmp_path / "tokens", tickets=tmp_path / "tickets")
    token = hadoop.login("delegationToken", name="tokens")
    first = deploy(cluster, restricted, job("tokens", NEW, token, "/user/alice/tokens"))
    tickets = hadoop.login("ticketCache", "alice", "tickets")
    value = job("tickets", NEW, tickets, MAIN_FILE)
    value["spec"].update(type="Java", mainClass="Lines", mainApplicationFile=JAR)
    second = deploy(cluster, restricted, value)
    assert first.wait() == "Complete", first.story()
    log = first.logs()
    assert ("sum: 499500" in log, NO_LOGIN in log) == (True, True)
    assert " alice " in hadoop.hdfs.shell("-ls /user/alice/tokens")
    assert second.wait() == "Complete", second.story()
    assert re.search(r"^lines: [1-9]", second.logs(), re.MULTILINE)
