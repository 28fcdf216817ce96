"""Adds what a document must have, or needs to keep its meaning, if the input does not set it."""

from __future__ import annotations

import re
from dataclasses import replace

from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.hadoop import beside_own_folder
from sparkgen.importing.naming import FALLBACK
from sparkgen.model.connect import CONNECT_KIND, NO_MAIN_FILE
from sparkgen.spark_versions import SUGGESTED

REPOSITORY = "docker.io/apache/spark"
_LANGUAGES = {".py": "Python", ".r": "R", ".R": "R"}
_MAIN_CLASS = "com.example.Main"
_JAR = "local:///opt/spark/work-dir/main.jar"
_TAG = re.compile(r"(?:v|spark-)?([34]\.[0-9]+\.[0-9]+)(?![0-9])")


def complete(draft: Draft) -> None:
    """Add what is missing; each addition is recorded, and guesses are findings."""
    _name(draft)
    _version(draft)
    _image(draft)
    beside_own_folder(draft)
    if draft.value["kind"] != CONNECT_KIND:
        _program(draft)


def spark_default_instances(draft: Draft) -> None:
    """Set two executors, Spark's default (EXECUTOR_INSTANCES), if the input sets no number."""
    said = (draft.get("spec", "sparkConf") or {}).keys() & {
        "spark.executor.instances",
        "spark.dynamicAllocation.enabled",
    }
    if draft.get("spec", "executor", "instances") is None and not said:
        if draft.get("spec", "dynamicAllocation", "enabled"):
            return
        draft.add(Outcome.ADDED, ("spec", "executor", "instances"), 2, "Spark's default; sparkgen's is 1")


def schedule_defaults(draft: Draft) -> None:
    """Set the two defaults of kubeflow's operator that differ from those here; guess a missing schedule."""
    if draft.get("outer", "schedule") is None:
        step = "set the schedule"
        draft.add(Outcome.GUESSED, ("outer", "schedule"), "@daily", "the input has no schedule", step)
    if draft.get("outer", "concurrencyPolicy") is None:
        draft.add(
            Outcome.ADDED,
            ("outer", "concurrencyPolicy"),
            "Allow",
            "the operator's default; sparkgen's is Forbid",
        )
    if draft.get("outer", "successfulRunHistoryLimit") is None:
        reason = "the operator's default; Kubernetes' is 3"
        draft.add(Outcome.ADDED, ("outer", "successfulRunHistoryLimit"), 1, reason)


def _name(draft: Draft) -> None:
    if draft.get("metadata", "name") is None:
        chosen = draft.choices.name
        if chosen:
            draft.add(Outcome.ADDED, ("metadata", "name"), chosen, "")
            return
        step = "set the name (--name NAME)"
        draft.add(
            Outcome.GUESSED, ("metadata", "name"), draft.names.make(FALLBACK), "the input has no name", step
        )


def _version(draft: Draft) -> None:
    if draft.choices.spark_version:
        _chosen(draft, "sparkVersion", draft.choices.spark_version, "--spark-version")
    if draft.get("spec", "sparkVersion") is not None:
        return
    tag = _TAG.search(str(draft.get("spec", "image") or draft.choices.image).rpartition(":")[2])
    if tag:
        reason = "from the tag of the image"
        draft.add(Outcome.ADDED, ("spec", "sparkVersion"), tag[1], reason)
        return
    draft.add(
        Outcome.GUESSED,
        ("spec", "sparkVersion"),
        SUGGESTED,
        "the input has no Spark version",
        "set the version of the image (--spark-version VERSION)",
    )


def _chosen(draft: Draft, field: str, value: str, option: str) -> None:
    """Set a field to the value of a command's option, which takes precedence over the input."""
    target = ("spec", field)
    if draft.get(*target) is None:
        draft.add(Outcome.ADDED, target, value, "")
        return
    draft.put(target, value)
    place, reason = draft.place(target), f"replaced by {option}"
    draft.copied.pop(place, None)
    draft.entries[:] = [
        replace(item, outcome=Outcome.REWRITTEN, reason=reason) if item.target == place else item
        for item in draft.entries
    ]


def _image(draft: Draft) -> None:
    if draft.choices.image:
        _chosen(draft, "image", draft.choices.image, "--image")
    if draft.get("spec", "image") is not None:
        return
    for role in ("driver", "executor"):
        image = draft.get("spec", role, "image")
        if image is not None:
            reason = f"the image of the {role}; the input has one per role"
            both = draft.get("spec", "driver", "image") and draft.get("spec", "executor", "image")
            draft.add(Outcome.ADDED if both else Outcome.GUESSED, ("spec", "image"), image, reason)
            return
    version = str(draft.get("spec", "sparkVersion"))
    tag = version if re.fullmatch(r"[34]\.[0-9]+\.[0-9]+", version) else SUGGESTED
    draft.add(
        Outcome.GUESSED,
        ("spec", "image"),
        f"{REPOSITORY}:{tag}",
        "the input has no image",
        "set an image with Spark and the application (--image IMAGE)",
    )


def _program(draft: Draft) -> None:
    """Add what is missing of main file, main class and language."""
    file = draft.get("spec", "mainApplicationFile")
    if file is None and draft.get("spec", "type") in ("Java", "Scala") and not draft.get("spec", "mainClass"):
        _no_program(draft)
        return
    if file is None and draft.get("spec", "mainClass"):
        reason = "no main file: the class is on the class path of the image"
        draft.add(Outcome.ADDED, ("spec", "mainApplicationFile"), NO_MAIN_FILE, reason)
        file = NO_MAIN_FILE
    elif file is None:
        draft.add(
            Outcome.GUESSED,
            ("spec", "mainApplicationFile"),
            "local:///opt/spark/work-dir/main.py",
            "the input has no main file",
            "set the jar, Python file or R file to run",
        )
        file = "main.py"
    kind = draft.get("spec", "type")
    if kind is None:
        kind = next((word for suffix, word in _LANGUAGES.items() if str(file).endswith(suffix)), "")
        if kind:
            draft.add(Outcome.ADDED, ("spec", "type"), kind, "")
        else:
            draft.add(Outcome.ADDED, ("spec", "type"), "Scala", "Scala or Java: they run the same way")
    if kind in ("Java", "Scala", "") and not draft.get("spec", "mainClass"):
        _main_class(draft, str(file))


def _no_program(draft: Draft) -> None:
    """Guess main file and main class of a Java or Scala application that has neither."""
    for field, value, missing, step in (
        ("mainApplicationFile", _JAR, "main file", "set the jar to run"),
        ("mainClass", _MAIN_CLASS, "main class", "set the class with the `main` method, with its package"),
    ):
        draft.add(Outcome.GUESSED, ("spec", field), value, f"the input has no {missing}", step)


def _main_class(draft: Draft, file: str) -> None:
    """Guess the main class for a `local:` jar: spark-submit does not read its manifest (SG131)."""
    if file.startswith("local:") or file == NO_MAIN_FILE:
        draft.add(
            Outcome.GUESSED,
            ("spec", "mainClass"),
            _MAIN_CLASS,
            "the input has no main class, and spark-submit cannot find it in a local:// file",
            "set the class with the `main` method, with its package",
        )
