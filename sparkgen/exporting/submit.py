"""The table for spark-submit: native.py's, and the options; and the script with the command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from sparkgen.exporting import native, rows
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import ROLES, Row, Take, table
from sparkgen.importing.writing import comment
from sparkgen.model.properties import property_text
from sparkgen.properties.kubernetes_table import NAMESPACE
from sparkgen.yamltext import dump

_MASTER = "MASTER"
"""The script's variable with the address of the cluster, such as ``k8s://https://host:6443``."""


def labels(given: Take) -> None:
    """Keep the labels for the pods. Kueue reads those of a queue on an object that spark-submit lacks."""
    for key, child in given.node.entries.items():
        if key in rows.OF_QUEUES:
            given.at(key).lost("spark-submit makes no object for a queue", "queue the pods themselves")
        else:
            given.at(key).put(("metadata", "labels", key), child.value, Outcome.REWRITTEN)


def restart(given: Take) -> None:
    """Spark-submit starts one driver, once."""
    if given.node.value.get("type", "Never") == "Never":
        given.needless("the driver's pod is never restarted")
    else:
        given.lost("a driver that fails is not started again", "start it again where you submit it")


ROWS = (
    *native.ROWS,
    Row("metadata.labels", how=labels),
    Row(
        "metadata.annotations",
        reason="spark-submit makes no object that could have them",
        step="set those of pods in `annotations` of driver and executor",
    ),
    Row("spec.type", needless=True, reason="the main file says so"),
    Row("spec.sparkVersion", needless=True, reason="the image determines it; submit with the same version"),
    Row("spec.scalaVersion", needless=True, reason="the image determines it"),
    Row("spec.mainClass", "options.class"),
    Row("spec.mainApplicationFile", how=partial(rows.local_file, ("options", "file"))),
    Row("spec.arguments", "options.arguments"),
    Row("spec.proxyUser", "options.proxy-user"),
    Row("spec.restartPolicy", how=restart),
    Row(
        "spec.timeToLiveSeconds",
        reason="the driver's pod stays until somebody deletes it",
        step="delete ended drivers by their label spark-role=driver",
    ),
    Row(
        "spec.suspend",
        reason="spark-submit starts at once",
        step="run the script when the application may run",
    ),
)
TABLE = table(ROWS)


def files(draft: Draft, head: Iterable[str]) -> dict[str, str]:
    """Returns the script NAME.sh and the pod templates that it names, by file name.

    `head`: the lines of the comment at its start.
    """
    name = str(draft.value["metadata"]["name"])
    conf = dict(draft.get(*rows.CONF) or {})
    shown = str(conf.pop("spark.app.name", name))
    if namespace := draft.value["metadata"].get("namespace"):
        conf = {NAMESPACE: namespace, **conf}
    texts: dict[str, str] = {}
    for role in ROLES:
        template = native.pod_template(draft.value[native.PODS], role)
        if template:
            file = f"{name}-{role}.yaml"
            texts[file] = dump({"apiVersion": "v1", "kind": "Pod", **template})
            conf[f"spark.kubernetes.{role}.podTemplateFile"] = file
    return {f"{name}.sh": _script(shown, conf, draft.value.get("options", {}), head), **texts}


def _script(name: str, conf: Mapping[str, Any], options: Mapping[str, Any], head: Iterable[str]) -> str:
    words = [
        ["--master", f'"${_MASTER}"'],
        ["--deploy-mode", "cluster"],
        ["--name", shlex.quote(name)],
        *(["--" + key, shlex.quote(str(options[key]))] for key in ("class", "proxy-user") if key in options),
        *(["--conf", shlex.quote(f"{key}={property_text(value)}")] for key, value in conf.items()),
        [shlex.quote(str(options["file"]))],
        *([shlex.quote(str(word))] for word in options.get("arguments", ())),
    ]
    command = " \\\n  ".join(["exec spark-submit", *(" ".join(pair) for pair in words)])
    about = "".join(f"{line}\n" for text in head for line in comment(text))
    master = f': "${{{_MASTER}:?set it to the address of the cluster, such as k8s://https://host:6443}}"'
    return f'#!/bin/sh\n{about}set -eu\ncd "$(dirname "$0")"\n{master}\n{command}\n'
