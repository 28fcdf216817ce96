"""Accounts and disruption budgets."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.names import DEFAULT_ACCOUNT
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import shortened


@rule(
    "SG190",
    ERROR,
    chart="security: the permissions would go to `driver.serviceAccount`, although "
    "`serviceAccount.name` names another account",
)
def contradicting_accounts(facts: DocumentFacts) -> Iterator[Finding]:
    """Two names for the driver's account: `driver.serviceAccount` wins, and the other would be lost."""
    driver, name = facts.get("driver", "serviceAccount"), facts.get("serviceAccount", "name")
    if driver is not None and name is not None and driver != name:
        yield Finding(
            facts.path("serviceAccount", "name"),
            f"`driver.serviceAccount` names {shortened(driver)}, but the driver has only one account",
            shortened(name),
            next_step="delete one of the two",
        )


@rule("SG191", WARNING)
def missing_accounts(facts: DocumentFacts) -> Iterator[Finding]:
    """An account that is neither rendered nor named."""
    section = facts.get("serviceAccount") or {}
    if (
        section.get("create") is False
        and not section.get("name")
        and not facts.get("driver", "serviceAccount")
    ):
        yield Finding(
            facts.path("serviceAccount", "create"),
            f"the pods will use a service account named {facts.name}, which must already exist",
            "false",
            next_step="add `name`, the existing account, below `serviceAccount:`",
        )


@rule("SG192", ERROR)
def lost_account_annotations(facts: DocumentFacts) -> Iterator[Finding]:
    """Annotations of an account that is not rendered: they would be lost, and a cloud role with them."""
    section = facts.get("serviceAccount") or {}
    existing = facts.get("driver", "serviceAccount")
    created = section.get("create", existing is None)
    if section.get("annotations") and not created:
        because = (
            "`create` is false"
            if section.get("create") is False
            else ("`driver.serviceAccount` names another one")
        )
        yield about_key(
            facts.path("serviceAccount", "annotations"),
            f"the service account is not rendered because {because}, so its annotations would be lost",
            "annotate the account where it is defined, or set `create: true` to let sparkgen render it",
        )


@rule("SG320", WARNING)
def default_account(facts: DocumentFacts) -> Iterator[Finding]:
    """The account `default` for the driver: every pod that names no account would get the Role's permissions.

    If sparkgen would render this account, SG196 reports an error instead.
    """
    section = facts.get("serviceAccount") or {}
    existing = facts.get("driver", "serviceAccount")
    path = facts.path("driver", "serviceAccount") if existing else facts.path("serviceAccount", "name")
    rendered = section.get("create", existing is None)
    if (
        (existing or section.get("name")) != DEFAULT_ACCOUNT
        or rendered
        or facts.get("rbac", "create") is False
    ):
        return
    yield Finding(
        path,
        "every pod in the namespace that names no account uses this one, and would get the permissions of "
        "the application's Role",
        DEFAULT_ACCOUNT,
        next_step="name another account, or delete this line and let sparkgen render one",
    )


@rule("SG193", ERROR)
def budget_with_both(facts: DocumentFacts) -> Iterator[Finding]:
    """A budget with both of its numbers: the API server refuses it (ValidatePodDisruptionBudgetSpec)."""
    budget = facts.get("podDisruptionBudget") or {}
    if budget.get("minAvailable") is not None and budget.get("maxUnavailable") is not None:
        yield about_key(
            facts.path("podDisruptionBudget", "maxUnavailable"),
            "`minAvailable` and `maxUnavailable` are mutually exclusive",
            "delete `maxUnavailable`: only one driver runs, and `minAvailable: 1` protects it",
            "one of the two",
        )


@rule("SG194", WARNING)
def budget_of_a_job(facts: DocumentFacts) -> Iterator[Finding]:
    """A budget that needs a number that a Job does not have, so that no disruption is ever permitted.

    Source: the disruption controller's getExpectedPodCount: percentages and maxUnavailable need a scale
    subresource, which Jobs do not have; its failSafe then permits no disruption.
    """
    budget = facts.get("podDisruptionBudget") or {}
    deployment = facts.get("restartPolicy", "type") == "Always" and not facts.scheduled
    both = budget.get("minAvailable") is not None and budget.get("maxUnavailable") is not None
    if deployment or both or budget.get("enabled") is False:
        return
    for field in ("minAvailable", "maxUnavailable"):
        value = budget.get(field)
        if value is not None and (field == "maxUnavailable" or isinstance(value, str)):
            yield Finding(
                facts.path("podDisruptionBudget", field),
                "Kubernetes cannot compute it for the pod of a Job, and then blocks every drain of the node",
                str(value),
                "a whole number in `minAvailable`",
                "write `minAvailable: 1`",
            )
