"""Values for JupyterHub's chart (zero-to-jupyterhub), made of a rendered SparkNotebook.

sparkgen render app.yaml | python3 values.py > singleuser.yaml

The Hub then makes each person's pod as that notebook's: with the same allocator, account and configuration.
"""

import sys

import yaml

OF_THE_HUB = ("sparkgen-home", "sparkgen-notebook")
"""Volumes that the Hub has its own for: it keeps the files, and asks who is there."""


def values(deployment):
    """The section `singleuser`."""
    template = deployment["spec"]["template"]
    pod = template["spec"]
    (spark,) = pod["containers"]
    image, _, tag = spark["image"].rpartition(":")
    given = template["metadata"]["labels"]
    labels = {key: text for key, text in given.items() if not key.startswith("app.kubernetes.io/")}
    name = labels["sparkgen.dev/application"]
    user = pod["securityContext"]["runAsUser"]
    own = {"podSelector": {"matchLabels": {"sparkgen.dev/application": name}}}
    variables = {item["name"]: item["value"] for item in spark["env"] if "value" in item}
    kept = ("SPARK_CONF_DIR", "SPARK_LOCAL_DIRS", "HADOOP_CONF_DIR")
    return {
        "image": {"name": image, "tag": tag},
        "uid": user,
        "fsGid": pod["securityContext"]["fsGroup"],
        "serviceAccountName": pod["serviceAccountName"],
        # The allocator alone has a token, on a volume of its own.
        "extraPodConfig": {"automountServiceAccountToken": False},
        "extraLabels": {"hub.jupyter.org/network-access-hub": "true", **labels},
        "extraEnv": {key: text for key, text in variables.items() if key in kept},
        "initContainers": [as_user(container, user) for container in pod["initContainers"]],
        "memory": {
            "guarantee": as_bytes(spark["resources"]["requests"]["memory"]),
            "limit": as_bytes(spark["resources"]["limits"]["memory"]),
        },
        "storage": {
            "extraVolumes": kept_of(pod["volumes"]),
            "extraVolumeMounts": kept_of(spark["volumeMounts"]),
        },
        # Executors come to driver and allocator; the driver goes to them, and the allocator to the API.
        "networkPolicy": {
            "ingress": [{"from": [own], "ports": [{"port": port} for port in (7078, 7079, 7091)]}],
            "egressAllowRules": {"privateIPs": True},
        },
        # Its container is privileged; a network policy can do the same.
        "cloudMetadata": {"blockWithIptables": False},
    }


def kept_of(items):
    """Volumes, or mounts, that the Hub has none for."""
    return [item for item in items if item["name"] not in OF_THE_HUB]


def as_user(container, user):
    """A container that runs as the pod's user: KubeSpawner sets that of its own container alone."""
    context = {**container["securityContext"], "runAsUser": user, "runAsGroup": user, "runAsNonRoot": True}
    return {**container, "securityContext": {**context, "seccompProfile": {"type": "RuntimeDefault"}}}


def as_bytes(memory):
    """Kubernetes' MiB as KubeSpawner writes them."""
    return memory.removesuffix("i")


if __name__ == "__main__":
    rendered = [item for item in yaml.safe_load_all(sys.stdin) if item]
    (found,) = [item for item in rendered if item["kind"] == "Deployment"]
    yaml.safe_dump({"singleuser": values(found)}, sys.stdout, sort_keys=False)
