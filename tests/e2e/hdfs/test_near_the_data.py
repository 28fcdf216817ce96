"""Executors and tasks in pods where their data is: HDFS on the nodes, and what the page says of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import Deployed, deploy, wait_until
from in_pods import NEW, job
from pages import blocks
from secure import Secure

from bench import locality
from cluster.handle import Cluster
from cluster.plan import NODES
from hadoop.place import ON_NODES

PAGE = "locality.md"
FIRST, LAST = (node.name for node in NODES)
FILES = 8

pytestmark = pytest.mark.own_cluster


@pytest.fixture(scope="session")
def data(hadoop: Secure, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Files of a block each, all on the last node, and the program that reads them; the files' names."""
    block = tmp_path_factory.mktemp("near") / "block.txt"
    block.write_text("a line\n" * 100)
    hadoop.hdfs.shell("-mkdir /near", f"-put {locality.JOB} /apps")
    names = (f"/near/{LAST}-{number}.txt" for number in range(FILES))
    hadoop.hdfs.shell(*(f"-put {block} {name}" for name in names), place=ON_NODES[-1])
    return "hdfs:///near/*.txt"


def scan(hadoop: Secure, name: str, data: str, **allocation: Any) -> dict[str, Any]:
    """An application of one executor that reads the files, a task for each."""
    made = job(
        *(name, NEW, hadoop.login("keytab", "alice"), data),
        dynamicAllocation={"enabled": True, "maxExecutors": 1},
        sparkConf={"spark.sql.files.maxPartitionBytes": "1000", "spark.sql.files.openCostInBytes": "1"},
        allocation=allocation,
    )
    made["spec"]["mainApplicationFile"] = f"hdfs:///apps/{Path(locality.JOB).name}"
    return made


def of_page(title: str, **words: str) -> dict[str, Any]:
    """What the page has of `spec.allocation` in a section, with one's own hosts and nodes."""
    text = blocks(PAGE, title, "yaml")[0]
    for theirs, ours in words.items():
        assert theirs in text
        text = text.replace(theirs, ours)
    return dict(yaml.safe_load(text)["spec"]["allocation"])


def seen(application: Deployed) -> dict[str, Any]:
    """The executor's pod, once it has a node."""
    found: list[dict[str, Any]] = []

    def there() -> bool:
        found[:] = [pod for pod in application.executors() if pod["spec"].get("nodeName")]
        return bool(found)

    wait_until(there, 240, "there is an executor", application.story)
    return found[0]


def levels(application: Deployed) -> dict[str, int]:
    """How near the tasks of the scan were to their data, by Spark's words."""
    assert application.wait() == "Complete", application.story()
    found = re.search(r"^result: (.+)$", application.logs(), re.MULTILINE)
    assert found, application.story()
    return dict(json.loads(found[1])["levels"][0])


def test_executors_and_tasks_are_where_the_data_is(
    cluster: Cluster, restricted: str, hadoop: Secure, data: str
) -> None:
    """By themselves; where the document says that the data is elsewhere, there; switched off, anywhere."""
    hadoop.prepare(cluster, restricted, login=hadoop.keytabs["alice"])
    elsewhere = of_page("When names differ", **{"hdfs-datanode-0": LAST, "worker-3": FIRST})
    off = of_page("Switch it off")
    by_itself = deploy(cluster, restricted, scan(hadoop, "near", data))
    by_document = deploy(cluster, restricted, scan(hadoop, "mapped", data, **elsewhere))
    anywhere = deploy(cluster, restricted, scan(hadoop, "anywhere", data, **off))
    for application, node in ((by_itself, LAST), (by_document, FIRST)):
        pod = seen(application)
        assert node in json.dumps(pod["spec"]["affinity"]["nodeAffinity"]), pod["spec"]["affinity"]
        assert pod["spec"]["nodeName"] == node
    assert "nodeAffinity" not in seen(anywhere)["spec"].get("affinity", {})
    assert levels(by_itself) == {"RACK_LOCAL": FILES}
    assert levels(by_document) == {"RACK_LOCAL": FILES}
    assert levels(anywhere) == {"ANY": FILES}
