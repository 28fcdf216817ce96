"""sparkConf: properties that have a field here, that sparkgen sets itself, or that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen import contract
from sparkgen.properties.classes import BACKEND_CLASSES, backend_classes
from sparkgen.properties.kubernetes_table import NAMESPACE, READ_BY_SPARKS_BACKEND
from sparkgen.properties.table import judgement, same_fields
from sparkgen.properties.verdicts import Judgement, Verdict
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import shortened

_OWN_PORTS = {
    "spark.driver.port": str(contract.DRIVER_PORT),
    "spark.driver.blockManager.port": str(contract.BLOCK_MANAGER_PORT),
    "spark.blockManager.port": str(contract.BLOCK_MANAGER_PORT),
    "spark.ui.port": str(contract.UI_PORT),
}
"""Port properties that sparkgen sets -> to what."""


@rule("SG120", ERROR)
def moved_settings(facts: DocumentFacts) -> Iterator[Finding]:
    """Properties that native Spark applies, and that have a field here: they would be lost."""
    for name, text in facts.conf.items():
        judged = judgement(name)
        if judged is not None and judged.verdict is Verdict.FIELD and not _already_said(facts, name, text):
            step = f"set `metadata.namespace: {shortened(text)}`" if name == NAMESPACE else judged.step
            message = "sparkgen does not use it, so it would be lost"
            yield about_key(facts.path("sparkConf", name), message, f"{step} instead")


def _already_said(facts: DocumentFacts, name: str, text: str) -> bool:
    """Whether the field that replaces a property already has the property's value."""
    if name == NAMESPACE:
        return bool(text == facts.value["metadata"].get("namespace"))
    for property_name, field in same_fields().items():
        if name == property_name:
            return bool(facts.get(*field) == text)
        if property_name.endswith(".") and name.startswith(property_name):
            return bool((facts.get(*field) or {}).get(name.removeprefix(property_name)) == text)
    return False


@rule("SG121", WARNING)
def unused_settings(facts: DocumentFacts) -> Iterator[Finding]:
    """Properties that sparkgen sets itself, or that nothing reads."""
    for name, text in facts.conf.items():
        judged = judgement(name)
        if judged is None or _OWN_PORTS.get(name) == text.strip():
            continue
        advice = _advice(facts, judged, name, text)
        if advice:
            reason = "sets it itself" if judged.verdict is Verdict.DONE else "does not use it"
            message = f"has no effect: sparkgen {reason}"
            yield about_key(facts.path("sparkConf", name), message, advice)
    for name, backend_class in backend_classes(facts.conf):
        yield Finding(
            facts.path("sparkConf", name),
            "has no effect: the class needs the scheduler backend of native Spark on Kubernetes",
            backend_class,
            next_step=f"delete it: {BACKEND_CLASSES[backend_class]}",
        )


def _advice(facts: DocumentFacts, judged: Judgement, name: str, text: str) -> str:
    """Returns the next step for a property without effect; "" if it has an effect, or is an error."""
    if name in READ_BY_SPARKS_BACKEND and facts.get("allocator") == "spark":
        return ""
    if judged.verdict in (Verdict.DONE, Verdict.NO_EFFECT):
        return judged.advice
    if judged.verdict is Verdict.FIELD and _already_said(facts, name, text):
        return "delete it: use the field for it"
    return ""
