"""`sparkgen status` on a real cluster: what keeps an application from getting on, in words."""

from __future__ import annotations

import signal
import subprocess
from typing import Any

import pytest
from admission import webhook
from deployed import allow_pods, deploy, document, wait_until

from cluster import answers
from cluster.handle import Cluster
from tests.e2e.commands.looking import (
    VERSION,
    at_once,
    before_spark,
    deploy_all,
    jars,
    sparkgen,
    status,
    wait_for,
    words,
)


def expected(*documents: dict[str, Any]) -> dict[str, str]:
    """The codes that their reasons will have: their names."""
    return {value["metadata"]["name"]: value["metadata"]["name"] for value in documents}


def wait_until_failed(cluster: Cluster, namespace: str, name: str, seconds: float = 60) -> None:
    """Wait until the whole run has failed: its reason is there earlier."""
    wait_until(lambda: status(cluster, namespace)[name]["state"] == "Failed", seconds, f"{name} has failed")


def test_what_keeps_a_driver_from_beginning_is_named(cluster: Cluster, restricted: str) -> None:
    """Eight ways to fail before Spark begins, at once: the code of each, a cause and a next step."""
    stuck = before_spark()
    deploy_all(cluster, restricted, *stuck)
    account = document("account", VERSION, "ends.py")
    deploy_all(cluster, restricted, account, lacks="ServiceAccount")
    wait_for(cluster, restricted, expected(*stuck, account), 90)
    allow_pods(cluster, restricted, 1)
    deploy_all(cluster, restricted, document("quota", VERSION, "ends.py"))
    wait_for(cluster, restricted, {"quota": "quota"}, 60)
    wait_until_failed(cluster, restricted, "expired")
    rows = status(cluster, restricted)
    assert all(row["reason"]["nextStep"] for row in rows.values())
    image, expired = rows["image"], rows["expired"]
    assert image["reason"]["cause"].startswith("the image docker.io/apache/spark:none cannot be pulled (")
    assert (image["state"], expired["state"]) == ("Pending", "Failed")
    run = str(expired["run"])
    assert sparkgen(cluster, restricted, "status", run, "-o", "name").stdout == f"job.batch/{run}\n"
    assert "expired at" in sparkgen(cluster, restricted, "logs", "expired").stdout
    waits = sparkgen(cluster, restricted, "logs", "no-node")
    assert (waits.returncode, "no node fits the driver's pod (0/2 nodes" in waits.stderr) == (2, True)


@pytest.mark.full
def test_what_ends_a_driver_at_once_is_named(cluster: Cluster, restricted: str) -> None:
    """Four ways to fail that only the driver's log tells; and the history of one."""
    ended = at_once()
    jars(cluster, restricted)
    deploy_all(cluster, restricted, *ended)
    wait_for(cluster, restricted, expected(*ended), 240)
    wait_until_failed(cluster, restricted, "program")
    rows = status(cluster, restricted)
    causes = {name: row["reason"]["cause"] for name, row in rows.items()}
    assert causes["java"].startswith("Tomorrow was compiled for Java 55, but the image has Java ")
    assert causes["missing-file"] == "the image has no file /opt/app/none.jar"
    run, code = str(rows["program"]["run"]), rows["program"]["exitCode"]
    history = sparkgen(cluster, restricted, "history", "program").stdout.splitlines()
    assert code == 1
    assert [line.split()[:2] for line in history] == [["RUN", "STATE"], [run, "Failed"]]
    assert history[1].endswith(f"read its log: sparkgen logs program -n {restricted}")
    log = sparkgen(cluster, restricted, "logs", "program", "--tail", "1")
    assert (log.returncode, log.stdout.count("\n")) == (0, 1)


@pytest.mark.own_cluster
def test_a_webhook_that_denies_the_driver(cluster: Cluster, restricted: str) -> None:
    """Its words, and whom to ask."""
    drivers = {"objectSelector": {"matchLabels": {"spark-role": "driver"}}}
    with answers.webhooks() as url, webhook(cluster, restricted, "Validating", f"{url}/deny", **drivers):
        deploy_all(cluster, restricted, document("denied", VERSION, "ends.py"))
        wait_for(cluster, restricted, {"denied": "webhook"}, 60)
        assert answers.DENIAL in status(cluster, restricted)["denied"]["reason"]["cause"]


def test_an_empty_namespace(cluster: Cluster, namespace: str) -> None:
    """It is no error, and there is a word about where else to look."""
    empty = sparkgen(cluster, namespace, "status")
    assert (empty.returncode, empty.stdout) == (0, "")
    assert f"no sparkgen applications in {namespace}" in empty.stderr


def test_watching_until_it_is_interrupted(cluster: Cluster, restricted: str) -> None:
    """A line for each change, then Ctrl-C: 130, no traceback, and the application goes on."""
    deploy_all(cluster, restricted, document("pi", VERSION, "ends.py", suspend=True))
    interruptible = ["env", "--default-signal=INT"]  # whoever runs the tests may ignore it
    command = [*interruptible, *words(cluster, restricted, "status", "--watch")]
    watching = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert watching.stdout is not None
    assert watching.stdout.readline().startswith("NAME")
    assert watching.stdout.readline().split()[2] == "Suspended"
    run = status(cluster, restricted)["pi"]["workload"]
    cluster.kubectl("patch", run, "-n", restricted, "-p", '{"spec": {"suspend": false}}')
    assert watching.stdout.readline().split()[2] == "Pending"
    watching.send_signal(signal.SIGINT)
    _, err = watching.communicate(timeout=20)
    assert (watching.returncode, err) == (130, "sparkgen: interrupted\n")


@pytest.mark.full
def test_a_driver_without_memory(cluster: Cluster, restricted: str) -> None:
    """The kernel kills it: its limit, and what to raise."""
    fill = {"name": "fill", "emptyDir": {"medium": "Memory"}}
    driver = {"volumeMounts": [{"name": "fill", "mountPath": "/opt/fill"}]}
    value = document("driver-memory", VERSION, "fills.py", driver=driver, volumes=[fill])
    deploy_all(cluster, restricted, value)
    wait_for(cluster, restricted, {"driver-memory": "driver-memory"}, 180)


@pytest.mark.full
@pytest.mark.own_cluster
def test_an_executor_without_memory(cluster: Cluster, restricted: str) -> None:
    """It is replaced, and the reason is told for a while."""
    fill = {"name": "fill", "emptyDir": {"medium": "Memory"}}
    executor = {"instances": 1, "volumeMounts": [{"name": "fill", "mountPath": "/opt/fill"}]}
    value = document("oom", VERSION, "hold.py", "4", "oom", "10", executor=executor, volumes=[fill])
    application = deploy(cluster, restricted, value)
    wait_for(cluster, restricted, {"oom": "executor-memory"}, 180)
    assert application.wait() == "Complete", application.story()


@pytest.mark.full
def test_an_allocator_without_rights(cluster: Cluster, restricted: str) -> None:
    """It cannot even make Events: its log says it, and the driver's after two minutes without a Role."""
    value = document("rights", VERSION, "hold.py", "2", "nothing", "1")
    deploy_all(cluster, restricted, value, lacks="RoleBinding")
    wait_for(cluster, restricted, {"rights": "rights"}, 180)
    wait_until_failed(cluster, restricted, "rights", 240)
    wait_for(cluster, restricted, {"rights": "rights"}, 20)
