"""The program: the main file and its class, the files that it needs, and its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkgen.errors import Path
from sparkgen.model import notebook
from sparkgen.model.connect import NO_MAIN_FILE
from sparkgen.model.delivery import is_local
from sparkgen.semantics.facts import ROLES, DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import shortened

_UNCHANGED = "is passed on unchanged: nothing expands it"
_VALUE_STEP = (
    "write the value; if it differs between environments, set it in an overlay (`-f`) or with `--set`"
)
_SPARK_STEP = (
    'write "${env:%s}" if the property is one of Spark\'s own; otherwise, read the variable in your code'
)
_HADOOP_STEP = 'write "${env.%s}", which Hadoop replaces'
_IMAGE_STEP = "write the name of the image, or set it with `--set`: Kubernetes does not replace %s"
_OPTIONS_STEP = "read the variable %s in your code: Java options cannot refer to it"
_SUFFIXES = {"Python": (".py",), "R": (".R", ".r"), "Java": (".jar",), "Scala": (".jar",)}


def _main(facts: DocumentFacts) -> str:
    return str(facts.get("mainApplicationFile") or NO_MAIN_FILE)


def _language(file: str) -> str | None:
    """Returns the language that spark-submit infers from a file's name (SparkSubmit.isPython, isR)."""
    if file.endswith(".py") or file == notebook.MAIN_FILE:
        return "Python"
    if file.endswith((".R", ".r")):
        return "R"
    return "Java or Scala" if file.endswith(".jar") else None


def _is_jvm(facts: DocumentFacts) -> bool:
    """Whether spark-submit will look for a main class."""
    return _language(_main(facts)) not in ("Python", "R")


def _is_on_disk(file: str) -> bool:
    """Whether the driver gets the file as `local:`: in the image, or delivered (DELIVERED_MAIN_FILE)."""
    return file.startswith("local:") or is_local(file)


@rule("SG130", WARNING)
def type_against_file(facts: DocumentFacts) -> Iterator[Finding]:
    """A main file of another language than `type` says: spark-submit goes by the file's name."""
    language, kind = _language(_main(facts)), facts.spec["type"]
    if language is None or kind in language:
        return
    overhead = "0.4" if kind in ("Python", "R") else "0.1"
    yield Finding(
        facts.path("mainApplicationFile"),
        f"Spark runs it as {language}, but `type` is {kind}, which determines the memory overhead "
        f"({overhead})",
        shortened(_main(facts)),
        f"a {_SUFFIXES[kind][0]} file",
        f"set `type` to {language}, or use the right file",
    )


@rule("SG131", ERROR)
def main_class_missing(facts: DocumentFacts) -> Iterator[Finding]:
    """A missing main class that spark-submit cannot find out.

    It reads the jar's manifest through Hadoop's file systems, and none of them is called `local`
    (SparkSubmit.prepareSubmitEnvironment).
    """
    file = _main(facts)
    if facts.get("mainClass") or not _is_jvm(facts):
        return
    script = facts.spec["type"] in ("Python", "R") and _language(file) is None  # SG134
    if not script and (_is_on_disk(file) or file == NO_MAIN_FILE):
        yield _no_class(facts, "`mainClass` is missing, and spark-submit cannot find it in this file")


@rule("SG132", WARNING)
def main_class_in_manifest(facts: DocumentFacts) -> Iterator[Finding]:
    """A class that only the jar's manifest can name."""
    file = _main(facts)
    readable = _language(file) == "Java or Scala" and not _is_on_disk(file)
    if readable and not facts.get("mainClass"):
        message = "without `mainClass`, the driver fails unless the jar's manifest has a Main-Class"
        yield _no_class(facts, message)


def _no_class(facts: DocumentFacts, message: str) -> Finding:
    step = "add `mainClass`, the class with the `main` method, including its package"
    return Finding(facts.path("mainApplicationFile"), message, shortened(_main(facts)), next_step=step)


@rule("SG189", WARNING)
def main_class_unused(facts: DocumentFacts) -> Iterator[Finding]:
    """A class beside a Python or R file: spark-submit puts its own runner in its place."""
    name = facts.get("mainClass")
    if name and not _is_jvm(facts):
        yield about_key(
            facts.path("mainClass"), f"has no effect with a {_language(_main(facts))} file", "delete it"
        )


@rule("SG134", ERROR)
def main_file(facts: DocumentFacts) -> Iterator[Finding]:
    """A main file that spark-submit takes for a jar although `type` is Python or R."""
    file, kind = _main(facts), facts.spec["type"]
    if kind not in ("Python", "R") or _language(file) is not None or facts.get("mainClass"):
        return
    yield Finding(
        facts.path("mainApplicationFile"),
        f"spark-submit treats it as a jar, because its name does not end in {_SUFFIXES[kind][0]}",
        shortened(file),
        f"a name that ends in {_SUFFIXES[kind][0]}",
        "use the script itself, and put other modules into `deps.pyFiles`"
        if kind == "Python"
        else "name the script itself",
    )


@rule("SG141", WARNING)
def file_locations(facts: DocumentFacts) -> Iterator[Finding]:
    """Files without a scheme, and files of someone's laptop: Spark looks for both inside the image."""
    files = [(facts.path("mainApplicationFile"), _main(facts))]
    for field in ("jars", "files", "pyFiles", "archives"):
        files += facts.dependencies(field)
    for path, text in files:
        if text in (NO_MAIN_FILE, notebook.MAIN_FILE) or is_local(text):
            continue  # these are beside the document, and pods get them from a registry
        if re.match(
            r"[A-Za-z]:[\\/]|file:/+(?:[A-Za-z]:|home/|Users/)|/home/|/Users/|~|local:/+(?:home|Users)/", text
        ):
            yield Finding(
                path,
                "looks like a file on your computer, but Spark looks for it in the image",
                shortened(text),
                "local:///..., or a URL that the driver can fetch",
                "copy it into the image or to an object store, and use that location",
            )
        elif not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text):
            fixed, beside = text, ""
            if not text.startswith("/"):
                fixed, beside = f"/{text}", f"`./{shortened(text)}` if it is beside the document, or "
            yield Finding(
                path,
                "has no scheme, so the driver looks for it in its image and copies it to the executors",
                shortened(text),
                "local://, or a URL that the driver can fetch",
                f"write {beside}`local://{shortened(fixed)}` if the image has it",
            )


@rule("SG142", WARNING)
def unexpanded(facts: DocumentFacts) -> Iterator[Finding]:
    """Placeholders that nothing expands: sparkgen, Helm values and Kubernetes leave them as they are."""
    yield from _unexpanded_arguments(facts)
    for name, text in (facts.get("sparkConf") or {}).items():
        yield from _unexpanded_value(facts.path("sparkConf", name), text, _SPARK_STEP)
    for name, text in (facts.get("hadoopConf") or {}).items():
        yield from _unexpanded_value(facts.path("hadoopConf", name), text, _HADOOP_STEP)
    yield from _unexpanded_value(facts.path("image"), facts.get("image") or "", _IMAGE_STEP)
    for role in ROLES:
        image = facts.role(role).get("image") or ""
        yield from _unexpanded_value(facts.path(role, "image"), image, _IMAGE_STEP)
        options = facts.role(role).get("javaOptions") or ""
        yield from _unexpanded_value(facts.path(role, "javaOptions"), options, _OPTIONS_STEP)


def _unexpanded_value(path: Path, text: str, step: str) -> Iterator[Finding]:
    """A placeholder in a configuration, where Kubernetes replaces none; Spark has {{APP_ID}} and its like."""
    braces = re.search(r"\{\{(?![A-Z_]++\}\})(?:(?!\{\{|\}\}).)*+\}\}", text)
    variable = re.search(
        r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)|\$\{([A-Z_][A-Z0-9_]*)\}|(?<![$\w])\$([A-Z][A-Z0-9_]+)\b", text
    )
    if braces:
        yield Finding(path, _UNCHANGED, shortened(braces[0]), next_step=_VALUE_STEP)
    elif variable:
        name = variable[1] or variable[2] or variable[3]
        yield Finding(path, _UNCHANGED, shortened(variable[0]), next_step=step % shortened(name))


def _unexpanded_arguments(facts: DocumentFacts) -> Iterator[Finding]:
    texts = [
        (facts.path("arguments", index), text) for index, text in enumerate(facts.get("arguments") or ())
    ]
    texts.append((facts.path("mainApplicationFile"), _main(facts)))
    for path, text in texts:
        braces = re.search(r"\{\{(?:(?!\{\{|\}\}).)*+\}\}", text)
        variable = re.search(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}|(?<![$\w])\$[A-Z][A-Z0-9_]+\b", text)
        if braces:
            yield Finding(path, _UNCHANGED, shortened(braces[0]), next_step=_VALUE_STEP)
        elif variable:
            name = variable[0].strip("${}")
            step = f"write `$({name})` for an environment variable of the container, or the value itself"
            message = "is passed on unchanged: no shell expands it"
            yield Finding(path, message, shortened(variable[0]), next_step=step)
