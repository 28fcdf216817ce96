"""The variables of a container, for a process."""

from __future__ import annotations

from sparkgen.local.variables import expanded, inherited, resolved


def test_variables_are_set_as_a_kubelet_sets_them() -> None:
    """Plain values, the downward API, our Secret; references to earlier ones; no foreign Secret."""
    container = [
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "URL", "value": "http://$(IP):80/$(LATER)/$$(IP)"},
        {"name": "LATER", "value": "x"},
        {"name": "AUTH", "valueFrom": {"secretKeyRef": {"name": "ours", "key": "secret"}}},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "theirs", "key": "k"}}},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"name": "EMPTY"},
    ]
    assert resolved(container, {"status.podIP": "127.0.0.1"}, {("ours", "secret"): "s3"}) == {
        "IP": "127.0.0.1",
        "URL": "http://127.0.0.1:80/$(LATER)/$(IP)",
        "LATER": "x",
        "AUTH": "s3",
        "EMPTY": "",
    }


def test_what_is_no_reference_stays() -> None:
    """Shell's own ways to write variables mean nothing here."""
    assert expanded("$A ${A} $(A B) $", {"A": "x"}) == "$A ${A} $(A B) $"


def test_the_users_spark_settings_do_not_reach_the_run() -> None:
    """Credentials and proxies do; SPARK_HOME and friends would change what the document says."""
    mine = {"AWS_PROFILE": "me", "PATH": "/bin", "HADOOP_CONF_DIR_OLD": "x", "PYTHONPATH_EXTRA": "x"}
    spark = {"SPARK_HOME": "/s", "PYSPARK_SUBMIT_ARGS": "x", "SPARKGEN_CACHE": "/c", "HADOOP_CONF_DIR": "/h"}
    assert inherited({**mine, **spark, "PYTHONPATH": "/p", "_SPARK_AUTH_SECRET": "x"}) == mine
