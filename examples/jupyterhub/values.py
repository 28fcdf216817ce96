"""Values for JupyterHub's chart (zero-to-jupyterhub), made of a rendered SparkNotebook.

sparkgen render app.yaml | python3 values.py > singleuser.yaml

The Hub then makes each person's pod as that notebook's: with the same allocator, account, configuration and
security context.
"""

import sys

import yaml

OF_THE_HUB = ("sparkgen-home", "sparkgen-notebook")
"""Volumes that the Hub has its own for: it keeps the files, and asks who is there."""
HOME = "/home/jovyan"
"""Where each person's files are: the chart's own choice. The user of Spark's image has no home directory."""


def values(deployment):
    """The sections `hub` and `singleuser`."""
    template = deployment["spec"]["template"]
    pod = template["spec"]
    (spark,) = pod["containers"]
    # What the chart has no value for, KubeSpawner is told itself.
    spawner = {
        "working_dir": HOME,
        "pod_security_context": pod["securityContext"],
        "container_security_context": spark["securityContext"],
    }
    given = template["metadata"]["labels"]
    labels = {key: text for key, text in given.items() if not key.startswith("app.kubernetes.io/")}
    variables = {item["name"]: item["value"] for item in spark["env"] if "value" in item}
    kept = ("SPARK_CONF_DIR", "SPARK_LOCAL_DIRS", "HADOOP_CONF_DIR")
    singleuser = {
        "image": image(spark, pod),
        "uid": pod["securityContext"]["runAsUser"],
        "fsGid": pod["securityContext"]["fsGroup"],
        "serviceAccountName": pod["serviceAccountName"],
        # The allocator alone has a token, on a volume of its own.
        "extraPodConfig": {"automountServiceAccountToken": False},
        "extraLabels": {"hub.jupyter.org/network-access-hub": "true", **labels},
        "extraEnv": {"HOME": HOME, **{key: text for key, text in variables.items() if key in kept}},
        "initContainers": pod["initContainers"],
        "memory": {
            "guarantee": as_bytes(spark["resources"]["requests"]["memory"]),
            "limit": as_bytes(spark["resources"]["limits"]["memory"]),
        },
        "storage": {
            "homeMountPath": HOME,
            "extraVolumes": kept_of(pod["volumes"]),
            "extraVolumeMounts": kept_of(spark["volumeMounts"]),
        },
        "networkPolicy": network_policy(labels["sparkgen.dev/application"]),
        # Its container is privileged; a network policy can do the same.
        "cloudMetadata": {"blockWithIptables": False},
    }
    return {"hub": {"config": {"KubeSpawner": spawner}}, "singleuser": singleuser}


def image(spark, pod):
    """The image, and how it is pulled."""
    name, colon, tag = spark["image"].rpartition(":")
    if not colon:
        name, tag = tag, ""
    secrets = [item["name"] for item in pod.get("imagePullSecrets", ())]
    return {
        "name": name,
        "tag": tag,
        **({"pullPolicy": spark["imagePullPolicy"]} if "imagePullPolicy" in spark else {}),
        **({"pullSecrets": secrets} if secrets else {}),
    }


def network_policy(application):
    """Executors come to driver and allocator; the driver goes to them, and the allocator to the API."""
    own = {"podSelector": {"matchLabels": {"sparkgen.dev/application": application}}}
    return {
        "ingress": [{"from": [own], "ports": [{"port": port} for port in (7078, 7079, 7091)]}],
        "egressAllowRules": {"privateIPs": True},
    }


def kept_of(items):
    """Volumes, or mounts, that the Hub has none for."""
    return [item for item in items if item["name"] not in OF_THE_HUB]


def as_bytes(memory):
    """Kubernetes' MiB as KubeSpawner writes them."""
    return memory.removesuffix("i")


if __name__ == "__main__":
    rendered = [item for item in yaml.safe_load_all(sys.stdin) if item]
    (found,) = [item for item in rendered if item["kind"] == "Deployment"]
    yaml.safe_dump(values(found), sys.stdout, sort_keys=False)
