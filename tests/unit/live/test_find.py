"""Which applications and runs there are: from labels, owners and ages."""

from __future__ import annotations

import pytest

from sparkgen.cluster import ALL_NAMESPACES, ClusterError
from sparkgen.errors import SparkgenError
from sparkgen.live.find import choose, find, one
from sparkgen.live.values import Application
from sparkgen.objects import Object
from tests.unit.live import objects
from tests.unit.live.objects import Cluster, cron_job, deployment, driver, executor, history_job, job

OLD = "2026-11-21T01:00:00Z"


def names(application: Application) -> list[str]:
    """The runs of an application, as they are ordered."""
    return [run.name for run in application.runs]


def test_pods_belong_to_the_run_whose_job_owns_them() -> None:
    """Drivers by the Job's UID, executors by the driver's; the Job that removes runs is none."""
    new, old = job(), job("pi-00000001", born=OLD)
    mine, other = driver(new), driver(old)
    cluster = Cluster(new, old, history_job(), mine, other, executor(mine, 1), executor(other, 2))
    [application] = find(cluster).applications
    assert names(application) == ["pi-1a2b3c4d", "pi-00000001"]
    first, second = application.runs
    assert (first.latest, second.latest) == (True, False)
    assert (first.driver, second.driver) == (mine, other)
    assert [pod["metadata"]["labels"]["spark-exec-id"] for pod in first.executors] == ["1"]


def test_firings_of_a_cron_job_share_their_run_and_not_their_pods() -> None:
    """Their names are their Jobs'."""
    firings = [
        job(f"nightly-{number}", "nightly", born, run="nightly-1a2b3c4d")
        for number, born in ((1, OLD), (2, objects.BORN))
    ]
    pods = [driver(firing) for firing in firings]
    application = one(Cluster(cron_job(), *firings, *pods), "nightly")
    assert names(application) == ["nightly-2", "nightly-1"]
    assert [run.driver for run in application.runs] == [pods[1], pods[0]]
    assert application.schedule is not None


def test_a_deployments_run_is_that_of_its_template() -> None:
    """The newest driver's pod comes first, unless it leaves; pods of a Job of that name are not its own."""
    stream, former = deployment(), job("stream-00000001", "stream", OLD)
    pods = [driver(stream, "stream-a", OLD), driver(stream, "stream-b"), driver(former, "stream-c")]
    application = one(Cluster(stream, former, *pods), "stream")
    assert names(application) == ["stream-1a2b3c4d", "stream-00000001"]
    assert application.runs[0].drivers == (pods[1], pods[0])
    pods[1]["metadata"]["deletionTimestamp"] = objects.ENDED
    assert one(Cluster(stream, *pods), "stream").runs[0].driver == pods[0]


def test_a_run_that_is_marked_as_superseded_is_not_the_latest() -> None:
    """After a revert the older one is the current one again."""
    marked = job("pi-00000002", annotations={"sparkgen.dev/superseded": "true"})
    application = one(Cluster(job("pi-00000001", born=OLD), marked), "pi")
    assert names(application) == ["pi-00000001", "pi-00000002"]


def test_a_session_is_the_latest_only_where_there_is_no_run() -> None:
    """Whoever means the latest run means one of the document."""
    later = "2026-11-22T02:00:00Z"
    sessions = [objects.session("pi-session-00001", born=later), objects.session("pi-session-00002")]
    application = one(Cluster(job(), *sessions), "pi")
    assert names(application) == ["pi-1a2b3c4d", "pi-session-00001", "pi-session-00002"]
    assert [run.latest for run in application.runs] == [True, False, False]
    assert names(one(Cluster(*sessions), "pi")) == ["pi-session-00001", "pi-session-00002"]


def test_a_label_of_the_document_makes_no_run_a_session() -> None:
    """`metadata.labels` is on a run's Job as well; what its pods are, sparkgen says alone."""
    later = job(born="2026-11-22T02:00:00Z", spec={"template": {"metadata": {"labels": {}}}})
    later["metadata"]["labels"] |= {"app.kubernetes.io/component": "session"}
    assert names(one(Cluster(job("pi-00000001"), later), "pi")) == ["pi-1a2b3c4d", "pi-00000001"]


def test_a_runs_name_stands_for_its_application_with_that_run() -> None:
    """Of all its runs."""
    cluster = Cluster(job(), job("pi-00000001", born=OLD), job("etl-1", "etl"))
    assert [names(found) for found in find(cluster, ["pi-00000001"]).applications] == [["pi-00000001"]]
    assert [found.name for found in find(cluster, ["etl", "pi"]).applications] == ["etl", "pi"]
    assert cluster.selectors[-1] == "sparkgen.dev/application in (etl,pi)"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pii", "there is no application pii in analytics: did you mean pi?"),
        ("pi-1a2b3c4e", "did you mean pi-1a2b3c4d?"),
        ("report", "there is no application report in analytics: there is etl, pi"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(name: str, words: str) -> None:
    """A near name, or all of them."""
    with pytest.raises(SparkgenError, match=words.replace("?", r"\?")):
        one(Cluster(job(), job("etl-1", "etl")), name)


def test_an_empty_namespace_is_said() -> None:
    """No application is there at all: no error without a name, and one with a name."""
    assert find(Cluster()).applications == ()
    with pytest.raises(SparkgenError, match=r"no other application of sparkgen; check --namespace"):
        one(Cluster(), "pi")


def test_several_namespaces_are_looked_through() -> None:
    """Each for itself."""
    other = job("etl-1", "etl")
    other["metadata"]["namespace"] = "prod"
    found = find(Cluster(job(), other), (), ["analytics", "prod", "analytics"]).applications
    assert [(one.namespace, one.name) for one in found] == [("analytics", "pi"), ("prod", "etl")]


def elsewhere(namespace: str, name: str = "etl-1", application: str = "etl") -> Object:
    """A Job of another namespace."""
    made = job(name, application)
    made["metadata"]["namespace"] = namespace
    return made


def spaces(*names: str) -> list[Object]:
    """Namespaces."""
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names]


def test_all_namespaces_are_listed_at_once() -> None:
    """One list of each kind; applications of one name stay apart, each with its own pods."""
    mine, other = job(), elsewhere("prod", "pi-00000001", "pi")
    theirs = driver(other)
    theirs["metadata"]["namespace"] = "prod"
    cluster = Cluster(mine, other, driver(mine), theirs)
    found = find(cluster, ["pi"], [ALL_NAMESPACES]).applications
    assert [(one.namespace, names(one), one.runs[0].driver) for one in found] == [
        ("analytics", ["pi-1a2b3c4d"], driver(mine)),
        ("prod", ["pi-00000001"], theirs),
    ]
    assert len(cluster.selectors) == 4
    with pytest.raises(SparkgenError, match="no application pip in all namespaces: did you mean pi"):
        find(cluster, ["pip"], [ALL_NAMESPACES])


def test_of_all_namespaces_those_are_shown_that_may_be_seen() -> None:
    """Who may not list everywhere at once sees each namespace that allows it, and reads which do not."""
    objects_of_all = [job(), elsewhere("prod"), elsewhere("secret"), *spaces("analytics", "prod", "secret")]
    refused = [f"{kind} in {ALL_NAMESPACES}" for kind in ("Job", "Pod")]
    for forbidden in ([refused[0], "Job in secret"], [refused[1], "Pod in secret"]):
        found = find(Cluster(*objects_of_all, forbidden=forbidden), (), [ALL_NAMESPACES])
        assert [one.namespace for one in found.applications] == ["analytics", "prod"]
        assert found.unseen == ("cannot list Jobs or pods in 1 of 3 namespaces (secret)",)
    assert not find(Cluster(*objects_of_all, forbidden=refused), (), [ALL_NAMESPACES]).unseen


@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_what_cannot_be_read_in_a_namespace_hides_no_other(kind: str) -> None:
    """Whoever may write into one namespace: the others are listed one by one, and the reason is said."""
    objects_of_all = [
        job(),
        elsewhere("prod"),
        elsewhere("odd"),
        *spaces("analytics", "prod", "odd", "secret"),
    ]
    odd = [f"{kind} in {ALL_NAMESPACES}", f"{kind} in odd"]
    found = find(Cluster(*objects_of_all, unreadable=odd, forbidden=["Job in secret"]), (), [ALL_NAMESPACES])
    assert [one.namespace for one in found.applications] == ["analytics", "prod"]
    assert found.unseen == (
        "cannot list Jobs or pods in 1 of 4 namespaces (secret)",
        f"cannot list {kind}s in odd: unreadable",
    )


def test_a_schedule_that_cannot_be_read_hides_no_job_of_its_namespace() -> None:
    """Deployments, too: the Jobs and pods are those that matter."""
    odd = [f"CronJob in {ALL_NAMESPACES}", "CronJob in odd"]
    objects_of_all = [job(), elsewhere("odd"), *spaces("analytics", "odd")]
    found = find(Cluster(*objects_of_all, unreadable=odd), (), [ALL_NAMESPACES])
    assert [one.namespace for one in found.applications] == ["analytics", "odd"]
    assert found.unseen == ("cannot list CronJobs in odd: unreadable",)


@pytest.mark.parametrize("forbidden", [[], ["Namespace"]])
def test_if_nothing_can_be_read_the_first_reason_is_said(forbidden: list[str]) -> None:
    """And of many namespaces, only the first ones are named."""
    with pytest.raises(ClusterError, match=r"cannot list Jobs in \*: unreadable"):
        find(
            Cluster(job(), *spaces("analytics"), unreadable=["Job"], forbidden=forbidden),
            (),
            [ALL_NAMESPACES],
        )
    names_of_all = [f"odd-{number:02}" for number in range(13)]
    odd = [f"Job in {name}" for name in (ALL_NAMESPACES, *names_of_all)]
    found = find(Cluster(job(), *spaces("analytics", *names_of_all), unreadable=odd), (), [ALL_NAMESPACES])
    assert len(found.unseen) == 11
    assert found.unseen[-1] == "3 more namespaces could not be read"


@pytest.mark.parametrize(
    ("forbidden", "words"),
    [
        ([f"Job in {ALL_NAMESPACES}", "Namespace"], "and cannot list the namespaces; ask for this"),
        (["Job"], "nor in one of them; ask for this permission, or name namespaces: -n NAME"),
    ],
)
def test_who_may_see_no_namespace_reads_what_to_do(forbidden: list[str], words: str) -> None:
    """Neither all at once nor one by one."""
    with pytest.raises(ClusterError, match=words):
        find(Cluster(job(), *spaces("analytics"), forbidden=forbidden), (), [ALL_NAMESPACES])


def test_rights_that_lack_are_said_where_they_can_be_done_without() -> None:
    """CronJobs and Deployments can; Jobs and pods cannot."""
    found = find(Cluster(job(), forbidden=["CronJob", "Deployment"]))
    assert [one.name for one in found.applications] == ["pi"]
    assert found.unseen == (
        "cannot list CronJobs in analytics: forbidden",
        "cannot list Deployments in analytics: forbidden",
    )
    for kind in ("Job", "Pod"):
        with pytest.raises(ClusterError):
            find(Cluster(job(), forbidden=[kind]))


def test_a_run_is_chosen_by_name_hash_or_its_end() -> None:
    """The latest without a word; what fits twice or not at all is answered with the names."""
    runs = [job(), job("pi-00003c4d", born=OLD), job("pi-00000001", born=OLD)]
    application = one(Cluster(*runs), "pi")
    assert choose(application).name == "pi-1a2b3c4d"
    assert choose(application, "pi-00000001").name == "pi-00000001"
    assert choose(application, "00000001").name == "pi-00000001"
    with pytest.raises(SparkgenError, match="3c4d matches several runs of pi: pi-1a2b3c4d, pi-00003c4d;"):
        choose(application, "3c4d")
    with pytest.raises(SparkgenError, match="pi has no run 7777 in analytics; it has pi-1a2b3c4d, pi-00"):
        choose(application, "7777")
    with pytest.raises(SparkgenError, match="nightly has no run"):
        choose(one(Cluster(cron_job()), "nightly"))
