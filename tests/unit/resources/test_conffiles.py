"""Further files of Spark's configuration folder, and the user in whose name the application acts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparkgen import contract

Make = Callable[..., Any]

POOLS = "<allocations/>\n"
HIVE = {"configMapKeyRef": {"name": "hive-v1", "key": "site"}}
LDAP = {"secretKeyRef": {"name": "ldap", "key": "ldap.properties"}}


def containers(pod: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All containers of a pod by name."""
    spec = pod["spec"]
    return {item["name"]: item for item in [*spec.get("initContainers", ()), *spec["containers"]]}


def folder(pod: dict[str, Any], container: str) -> dict[str, Any]:
    """The volume that a container has as Spark's configuration folder, without its name."""
    mounts = containers(pod)[container]["volumeMounts"]
    (name,) = [item["name"] for item in mounts if item["mountPath"] == contract.CONF_DIR]
    (volume,) = [item for item in pod["spec"]["volumes"] if item["name"] == name]
    return {key: value for key, value in volume.items() if key != "name"}


def test_texts_are_files_of_the_runs_config_map(rendered: Make) -> None:
    """Beside sparkgen's own, as they are written; the volumes are those of an application without any."""
    plain, made = rendered(), rendered(sparkConfFiles={"fairscheduler.xml": POOLS})
    assert made.config_map("conf")["data"] == {
        **plain.config_map("conf")["data"],
        "fairscheduler.xml": POOLS,
    }
    for pod in (made.driver, made.executor):
        assert {item["name"] for item in pod["spec"]["volumes"]} <= {
            item["name"] for item in plain.driver["spec"]["volumes"]
        }


def test_keys_of_other_objects_are_in_the_same_folder(rendered: Make) -> None:
    """Of driver and executors: the run's files and each key under its file's name, and nothing else of it."""
    made = rendered(
        sparkConfFiles={"hive-site.xml": HIVE, "ldap.properties": LDAP, "fairscheduler.xml": POOLS}
    )
    own = made.config_map("conf")["metadata"]["name"]
    expected = {
        "projected": {
            "sources": [
                {"configMap": {"name": own}},
                {"configMap": {"name": "hive-v1", "items": [{"key": "site", "path": "hive-site.xml"}]}},
                {
                    "secret": {
                        "name": "ldap",
                        "items": [{"key": "ldap.properties", "path": "ldap.properties"}],
                    }
                },
            ]
        }
    }
    assert folder(made.driver, contract.DRIVER_CONTAINER) == expected
    assert folder(made.executor, contract.EXECUTOR_CONTAINER) == expected
    assert set(made.config_map("conf")["data"]) & {"hive-site.xml", "ldap.properties"} == set()


def test_the_allocator_sees_no_file_of_another_object(rendered: Make) -> None:
    """It has a token: the run's own ConfigMap is all that it reads."""
    made = rendered(sparkConfFiles={"ldap.properties": LDAP})
    own = made.config_map("conf")["metadata"]["name"]
    assert folder(made.driver, contract.ALLOCATOR_CONTAINER) == {"configMap": {"name": own}}


def test_what_starts_a_new_run(rendered: Make) -> None:
    """A text, a name, a key and the kind of object do; the order in which files are written does not."""

    def run(**files: Any) -> str:
        return str(rendered(sparkConfFiles=files).workload["metadata"]["name"])

    some = {"a.xml": POOLS, "b.xml": HIVE, "c.xml": LDAP}
    variants = [
        some,
        {**some, "a.xml": POOLS + " "},
        {**some, "b.xml": {"configMapKeyRef": {"name": "hive-v2", "key": "site"}}},
        {**some, "b.xml": {"configMapKeyRef": {"name": "hive-v1", "key": "other"}}},
        {**some, "b.xml": {"secretKeyRef": {"name": "hive-v1", "key": "site"}}},
        {},
    ]
    assert len({run(**variant) for variant in variants}) == len(variants)
    assert run(**some) == run(**dict(reversed(some.items())))
    assert run() == rendered().workload["metadata"]["name"]


def test_the_user_to_act_as(rendered: Make) -> None:
    """Both roles have the name in SPARK_USER, whatever else says; spark-submit makes the driver act so.

    As in Spark's own driver pods, where `--proxy-user` alone changes nothing.
    """
    made = rendered(
        proxyUser="alice",
        sparkConf={"spark.executorEnv.SPARK_USER": "bob"},
        driver={"env": [{"name": "SPARK_USER", "value": "dave"}]},
        executor={"env": [{"name": "SPARK_USER", "value": "carol"}]},
    )
    arguments = containers(made.driver)[contract.DRIVER_CONTAINER]["args"]
    assert arguments[arguments.index("--proxy-user") + 1] == "alice"
    assert arguments.index("--proxy-user") < arguments.index("local:///opt/app/main.jar")
    for pod, name in (
        (made.driver, contract.DRIVER_CONTAINER),
        (made.executor, contract.EXECUTOR_CONTAINER),
    ):
        env = containers(pod)[name]["env"]
        assert [item["value"] for item in env if item["name"] == "SPARK_USER"] == ["alice"]
    plain = rendered()
    assert "--proxy-user" not in containers(plain.driver)[contract.DRIVER_CONTAINER]["args"]
    assert "SPARK_USER" not in f"{plain.driver} {plain.executor}"
