"""What a preflight says of what a cluster has told: every finding with its next step, all at once."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen import model, resources
from sparkgen.errors import Severity
from sparkgen.preflight import Reference, Unknown, needs, security
from sparkgen.preflight.checks_nodes import full_name
from sparkgen.preflight.gather import look_around
from sparkgen.preflight.values import Refusal, Storage
from tests.unit.preflight.made import NAMESPACE, facts, found, node, wanted
from tests.unit.semantics.documents import STAGING, history_server, service

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
FORBIDDEN = (
    'cannot compare {0} pi in analytics: {1}.x "pi" is forbidden: User "u" cannot patch resource "{1}" in ns'
)


def refusal(status: int, message: str) -> Refusal:
    """A refusal; what was said follows what was tried."""
    return Refusal(status, message, message.partition(": ")[2])


def quota(**limits: tuple[str, str]) -> dict[str, Any]:
    """A ResourceQuota: resource (with _ for .) -> hard and used."""
    named = {name.replace("_", "."): pair for name, pair in limits.items()}
    return {
        "metadata": {"name": "team"},
        "spec": {},
        "status": {
            "hard": {name: pair[0] for name, pair in named.items()},
            "used": {name: pair[1] for name, pair in named.items()},
        },
    }


def test_where_all_is_well_nothing_is_said() -> None:
    """Neither a warning nor a remark."""
    assert found(wanted()) == []


@pytest.mark.parametrize(
    ("version", "good"),
    [("v1.29.9", False), ("v1.30.0-eks-1", True), ("v1.36+", True), (f"v1.{'9' * 5000}", True)],
)
def test_an_old_kubernetes(version: str, good: bool) -> None:
    """Nothing has been run on what is older than 1.30."""
    messages = [finding.message for finding in found(wanted(), version=version)]
    assert (messages == []) is good
    assert good or "drivers need 1.30 or newer" in messages[0]


@pytest.mark.parametrize(
    ("version", "severity"),
    [("v1.30.1", ERROR), ("v1.33.0", WARNING), ("v1.34.9", WARNING), ("v1.35.0", None), ("v1.36.3", None)],
)
def test_image_volumes_need_a_kubernetes_that_has_them(version: str, severity: Severity | None) -> None:
    """Before 1.35 they are behind a feature gate, which nobody without its node's files can see."""
    said = found(wanted(delivery={"mount": "image"}), version=version)
    assert [finding.severity for finding in said] == ([] if severity is None else [severity])
    assert all("delivery.mount: fetch" in finding.next_step for finding in said)
    assert found(wanted(), version=version) == []


def test_a_gang_needs_a_cluster_with_groups() -> None:
    """The allocator could not create the PodGroup; others need none, and who may not ask is told so."""
    gang = wanted(batchScheduler="kube-scheduler")
    [finding] = found(gang, gangs=False)
    assert (finding.severity, finding.check) == (ERROR, "gangs")
    assert "no PodGroups of scheduling.k8s.io" in finding.message
    assert found(gang) == []
    assert found(wanted(), gangs=False) == []
    [unchecked] = found(gang, gangs=Unknown("you may not"))
    assert unchecked.severity is INFO


class Serves:
    """A cluster with a namespace, and with these versions of PodGroups. It keeps what it was asked."""

    def __init__(self, *versions: str) -> None:
        self.versions = versions
        self.asked: list[str] = []
        self.looked_for: list[tuple[str, str]] = []

    def version(self) -> str:
        """Its own."""
        return "v1.37.0"

    def get(self, *_: str) -> Any:
        """The namespace."""
        return NAMESPACE

    def list(self, *_: str) -> Any:
        """Nothing."""
        return ()

    def data_keys(self, kind: str, name: str, *_: str) -> frozenset[str]:
        """It has every object; none says which keys it has, but for one Secret."""
        self.looked_for.append((kind, name))
        return frozenset({"hdfs.keytab"}) if (kind, name) == ("Secret", "etl") else frozenset()

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether it has a kind in a version."""
        self.asked.append(f"{api_version} {kind}")
        return api_version in self.versions


@pytest.mark.parametrize(
    ("versions", "there"),
    [
        (("scheduling.k8s.io/v1beta1",), True),
        (("scheduling.k8s.io/v1alpha2",), True),
        (("scheduling.k8s.io/v1",), False),
    ],
)
def test_either_version_of_groups_will_do(versions: tuple[str, ...], there: bool) -> None:
    """That of Kubernetes 1.36, or that of 1.37; nobody is asked where there is no gang."""
    cluster: Any = Serves(*versions)
    assert look_around(cluster, [wanted(batchScheduler="kube-scheduler")])["analytics"].gangs is there
    plain: Any = Serves()
    assert look_around(plain, [wanted()])["analytics"].gangs is True
    assert plain.asked == []


LOGIN = {
    "keytab": {"name": "etl", "key": "krb.keytab"},
    "principal": "etl@EXAMPLE.COM",
    "krb5ConfigMap": "krb5",
}


def test_a_key_that_the_secret_of_the_keytab_lacks() -> None:
    """The pod would wait for ever; the field that names the key is said, and which keys there are."""
    asked = wanted(kerberos=LOGIN)
    cluster: Any = Serves()
    keys = look_around(cluster, [asked])["analytics"].keys
    assert keys == {("Secret", "etl"): {"hdfs.keytab"}}
    assert sorted(cluster.looked_for) == [("ConfigMap", "krb5"), ("Secret", "etl")]  # one request each
    [finding] = found(asked, keys=keys)
    assert (finding.severity, finding.check) == (ERROR, "references")
    assert finding.message == "the driver needs the key krb.keytab of the Secret etl, which has hdfs.keytab"
    assert finding.next_step == "fix spec.kerberos.keytab.key, or add the key"
    assert found(asked, keys={("Secret", "etl"): frozenset({"krb.keytab", "hdfs.keytab"})}) == []
    assert found(asked) == []


@pytest.mark.parametrize(
    ("spec", "name", "field"),
    [
        (
            {"kerberos": LOGIN},
            ("ConfigMap", "krb5", "krb5.conf"),
            "spec.kerberos.krb5ConfigMap, whose key is krb5.conf",
        ),
        (
            {"kerberos": {"ticketCache": {"name": "etl", "key": "cc"}, "principal": "etl@EXAMPLE.COM"}},
            ("Secret", "etl", "cc"),
            "spec.kerberos.ticketCache.key",
        ),
        (
            {
                "driver": {
                    "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "api", "key": "token"}}}]
                }
            },
            ("Secret", "api", "token"),
            "the key in the variable TOKEN",
        ),
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "s", "items": [{"key": "k", "path": "p"}]}}]},
            ("Secret", "s", "k"),
            "the key in spec.volumes",
        ),
    ],
)
def test_every_key_that_a_pod_takes_is_looked_for(
    spec: dict[str, Any], name: tuple[str, str, str], field: str
) -> None:
    """Of Secrets and ConfigMaps, in volumes and variables."""
    kind, of, key = name
    if "volumes" in spec:
        spec = {**spec, "driver": {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}}
    asked = wanted(**spec)
    [finding] = found(asked, keys={(kind, of): frozenset({"other"})})
    assert finding.message == f"the driver needs the key {key} of the {kind} {of}, which has other"
    assert finding.next_step == f"fix {field}, or add the key"


def test_without_its_namespace_nothing_else_is_asked() -> None:
    """And the command that makes it is named."""
    [finding] = found(wanted(), namespace=None, nodes=Unknown("x"))
    assert (finding.severity, finding.message) == (ERROR, "the namespace analytics does not exist")
    assert finding.next_step.startswith("create it with kubectl create namespace analytics")


def test_a_namespace_on_its_way_out() -> None:
    """Nothing can be created in it any more."""
    leaving = {"metadata": {"deletionTimestamp": "2026-11-22T00:00:00Z"}}
    assert "is being deleted" in found(wanted(), namespace=leaving)[0].message


def test_lacking_rights_are_one_finding() -> None:
    """Each verb and resource once, however many objects need it."""
    refused = {
        ("ConfigMap", "a"): refusal(403, FORBIDDEN.format("ConfigMap", "configmaps")),
        ("ConfigMap", "b"): refusal(403, FORBIDDEN.format("ConfigMap", "configmaps")),
        ("Job", "pi"): refusal(403, FORBIDDEN.format("Job", "jobs")),
    }
    [finding] = found(wanted(), refused=refused)
    assert finding.message == "you lack permissions in analytics: patch configmaps, patch jobs"


def test_nobody_gives_rights_that_he_has_not() -> None:
    """The Role's own refusal is said as that; its binding's is not said again."""
    said = 'roles "pi" is forbidden: user "u" is attempting to grant RBAC permissions not currently held: ...'
    refused = {
        ("Role", "pi"): refusal(403, f"cannot compare Role pi in analytics: {said}"),
        ("RoleBinding", "pi"): refusal(404, 'cannot ...: roles.rbac.authorization.k8s.io "pi" not found'),
    }
    [finding] = found(wanted(), refused=refused)
    assert "you cannot grant the permissions" in finding.message
    assert "bind and escalate" in finding.next_step


def test_a_policy_and_a_conflict_are_in_the_servers_words() -> None:
    """And a webhook that cannot be tried is no failure."""
    refused = {
        ("Job", "pi"): refusal(400, "cannot compare Job pi in a: admission webhook denied: no team label"),
        ("Service", "pi-ui"): refusal(
            409, 'cannot compare x: Apply failed: conflict with "argocd-controller"'
        ),
        ("ConfigMap", "c"): refusal(400, "cannot compare x: webhook w does not support dry run"),
    }
    severities = [(finding.severity, finding.message) for finding in found(wanted(), refused=refused)]
    assert (ERROR, "admission webhook denied: no team label") in severities
    assert (ERROR, 'Service pi-ui: Apply failed: conflict with "argocd-controller"') in severities
    assert severities[-1][0] is INFO


def test_a_webhook_that_is_away_is_nobodys_mistake() -> None:
    """As Kueue's, while its controller is away: there is nothing to correct in the document."""
    away = 'Internal error occurred: failed calling webhook "mjob.kb.io": connection refused'
    refused = {("Job", "pi"): refusal(500, f"cannot compare Job pi in a: {away}")}
    pods = {"driver": refusal(500, f"cannot create Pod x in a: {away}")}
    first, second = found(wanted(), refused=refused, pods=pods)
    what = 'an admission webhook of the cluster does not answer: "mjob.kb.io": connection refused'
    assert (first.message, second.message) == (what, f"the driver's pod is refused: {what}")
    assert {one.next_step for one in (first, second)} == {
        "tell the cluster's administrators, and apply again when the webhook answers"
    }


def test_pod_security_is_told_by_the_rules_of_lint() -> None:
    """What restricted refuses and baseline lets in, and what baseline refuses."""
    root = wanted(driver={"podSecurityContext": {"runAsUser": 0, "runAsNonRoot": False}})
    label = "pod-security.kubernetes.io/enforce"

    def at(level: str, asked: Any) -> list[str]:
        namespace = {"metadata": {**NAMESPACE["metadata"], "labels": {label: level}}}
        return [finding.message for finding in found(asked, namespace=namespace)]

    assert at("restricted", wanted()) == []
    assert "runs as root (SG214)" in at("restricted", root)[0]
    assert at("baseline", root) == at("privileged", root) == []
    host = wanted(driver={"template": {"spec": {"hostNetwork": True}}})
    assert "SG210" in at("baseline", host)[0]


def test_pod_security_is_told_of_servers_too() -> None:
    """A DaemonSet without pods would be all that a restricted namespace shows of a shuffle service."""
    root = history_server({"podSecurityContext": {"runAsUser": 0, "runAsNonRoot": False}})
    assert list(security.violations(history_server({}), "restricted")) == []
    assert "runs as root (SG214)" in list(security.violations(root, "restricted"))
    assert list(security.violations(root, "baseline")) == []
    (needs_its_nodes,) = security.violations(service({}), "baseline")
    assert "SG146" in needs_its_nodes
    assert list(security.violations(service({}), "privileged")) == []


def test_a_pod_that_admission_refuses_is_said_once() -> None:
    """Who may not create pods does not know; a missing account is said as what is missing."""
    lacking = refusal(
        403, 'cannot create Pod in a: pods is forbidden: User "u" cannot create resource "pods"'
    )
    [finding] = found(wanted(), pods={"driver": lacking, "executor": None})
    assert (finding.severity, finding.check) == (INFO, "pods")
    policy = refusal(403, 'cannot create Pod x in a: pods "x" is forbidden: no PriorityClass with name gold')
    [finding] = found(wanted(), pods={"driver": policy})
    assert finding.message.endswith("is forbidden: no PriorityClass with name gold")


def test_a_quota_without_room_for_the_driver() -> None:
    """An error with what is needed and what is left: 1 core and the allocator's tenth."""
    [finding] = found(wanted(), quotas=(quota(requests_cpu=("4", "3.5")),))
    assert finding.severity is ERROR
    assert finding.message == (
        "the quota has no room for the driver; requests.cpu: 5100m needed, 500m of 4 left in ResourceQuota "
        "team"
    )


def test_a_quota_with_room_for_some_executors() -> None:
    """A warning: it runs with fewer."""
    [finding] = found(wanted(), quotas=(quota(requests_cpu=("10", "6.8"), pods=("10", "0")),))
    assert finding.severity is WARNING
    assert finding.message.startswith(
        "the quota has room for 2 of 4 executors, and the others will wait; requests.cpu"
    )


def test_a_run_that_is_there_takes_nothing_of_a_quota() -> None:
    """Applying it again starts nothing."""
    asked = wanted()
    job = next(item for item in asked.objects if item["kind"] == "Job")
    live = {("Job", job["metadata"]["name"]): {"metadata": {"resourceVersion": "1"}}}
    assert found(asked, quotas=(quota(pods=("1", "1")),), live=live) == []


def test_what_pods_refer_to_and_is_missing() -> None:
    """Secrets, ConfigMaps, claims, pull secrets: found in mounts and variables, but not what is optional."""
    asked = wanted(
        imagePullSecrets=["registry"],
        driver={
            "secrets": [{"name": "key", "path": "/key"}],
            "envFrom": [
                {"configMapRef": {"name": "settings"}},
                {"secretRef": {"name": "x", "optional": True}},
            ],
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        },
        volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "lake"}}],
    )
    references = needs.references(asked.objects)
    assert {(one.kind, one.name) for one in references} == {
        ("Secret", "registry"),
        ("Secret", "key"),
        ("ConfigMap", "settings"),
        ("PersistentVolumeClaim", "lake"),
    }
    lake = Reference("PersistentVolumeClaim", "lake", "driver")
    [finding] = found(asked, there={**dict.fromkeys(references, True), lake: False})
    assert finding.message == (
        "the driver needs the PersistentVolumeClaim lake, which does not exist in analytics"
    )
    unknown = dict.fromkeys(references, Unknown("cannot look for Secret x in a: forbidden", "forbidden"))
    [finding] = found(asked, there=unknown)
    assert finding.severity is INFO
    assert finding.message.endswith(": forbidden")


@pytest.mark.parametrize(("suspend", "severity"), [(True, WARNING), (False, ERROR)])
def test_what_is_suspended_needs_nothing_yet(suspend: bool, severity: Severity) -> None:
    """A Secret that is not there keeps nobody from applying what starts no pod."""
    asked = wanted(restartPolicy={"type": "Always"}, imagePullSecrets=["registry"], suspend=suspend)
    [finding] = found(asked, there={Reference("Secret", "registry", "driver"): False})
    assert (finding.check, finding.severity) == ("references", severity)


def test_a_suspended_job_may_be_one_that_a_queue_starts() -> None:
    """So what it needs has to be there."""
    asked = wanted(imagePullSecrets=["registry"], suspend=True)
    [finding] = found(asked, there={Reference("Secret", "registry", "driver"): False})
    assert finding.severity is ERROR


def test_a_run_that_has_expired_would_fail_at_once() -> None:
    """Unless it is there already: then nothing starts."""
    asked = wanted(run={"expiresAt": "2026-01-01T00:00:00Z"})
    [finding] = found(asked)
    assert (finding.check, finding.severity) == ("expired", ERROR)


def test_a_run_whose_job_is_gone_runs_again() -> None:
    """Its files are there, its Job is not: as after its time to live."""
    asked = wanted()
    names = [item["metadata"]["name"] for item in asked.objects if item["kind"] == "ConfigMap"]
    live = {("ConfigMap", name): {"metadata": {}} for name in names}
    [finding] = found(asked, live=live)
    assert (finding.check, finding.severity) == ("again", WARNING)


def test_objects_of_a_controller_are_its_own() -> None:
    """What is applied by hand is undone: a warning with its name."""
    tracked = {
        "metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "team-pi:/ConfigMap:a/pi-tuning"}}
    }
    [finding] = found(wanted(), live={("ConfigMap", "pi-tuning"): tracked})
    assert finding.message.startswith("Argo CD (application team-pi) applies pi")


def test_images_that_no_node_has() -> None:
    """Those that nodes must have already are a warning; the others cannot be known."""
    [finding] = found(wanted(), nodes=(node("runtime.sparkgen.invalid/sparkgen-runtime:1"),))
    assert (finding.severity, finding.check) == (INFO, "images")
    assert "whether apache/spark:3.5.8 can be pulled" in finding.message
    nobodys, _ = found(wanted(), nodes=(node(),))
    assert (nobodys.severity, nobodys.check) == (WARNING, "images")
    assert "no registry has it" in nobodys.message
    assert "sparkgen image build --push" in nobodys.next_step
    never = found(wanted(imagePullPolicy="Never"), nodes=(node(),))
    assert [finding.severity for finding in never] == [WARNING, WARNING]


@pytest.mark.parametrize(
    ("image", "full"),
    [
        ("spark", "docker.io/library/spark:latest"),
        ("apache/spark:3.5.8", "docker.io/apache/spark:3.5.8"),
        ("localhost/spark:1", "localhost/spark:1"),
        ("registry:5000/team/spark", "registry:5000/team/spark:latest"),
    ],
)
def test_names_of_images_as_nodes_report_them(image: str, full: str) -> None:
    """With the registry and the tag that were left out."""
    assert full_name(image) == full


def test_servers_have_no_driver() -> None:
    """Nothing of an application is asked of it."""
    asked = wanted()
    assert facts(asked).now.year == 2026
    assert [group.role for group in needs.pods(asked.objects)] == ["driver", "executor"]


def test_a_pod_that_no_node_could_take() -> None:
    """Of the reasons of each node the first is counted; one node that could take it is enough."""
    asked = wanted(
        driver={"nodeSelector": {"disk": "ssd"}},
        executor={"instances": 1, "memory": "300g", "tolerations": [{"key": "gpu", "operator": "Exists"}]},
    )
    taint = {"key": "gpu", "effect": "NoSchedule"}
    images = ("docker.io/apache/spark:3.5.8", "runtime.sparkgen.invalid/sparkgen-runtime:1")
    small = [node(*images, taints=[taint]), node(labels={"disk": "ssd"}), node(unschedulable=True)]
    [finding] = found(asked, nodes=tuple(small))
    assert (finding.severity, finding.check) == (WARNING, "nodes")
    assert finding.message == (
        "no node of the cluster fits the executor's pod: 2 with too little memory (the pod requests 420Gi, "
        "and the largest node has 256Gi), 1 cordoned"
    )
    assert finding.next_step.startswith("in spec.executor, request less or fix nodeSelector and tolerations")
    large = node(allocatable={"memory": "512Gi"}, taints=[taint])
    assert found(asked, nodes=(*small, large)) == []
    [driver] = found(asked, nodes=(node(*images), large))
    assert driver.message.endswith(
        "fits the driver's pod: 1 without the label disk=ssd, 1 with the taint gpu"
    )
    job = next(item for item in asked.objects if item["kind"] == "Job")
    there = {("Job", job["metadata"]["name"]): {"metadata": {"resourceVersion": "1"}}}
    assert found(asked, nodes=tuple(small), live=there) == []


def test_an_executor_needs_a_node_of_one_pool() -> None:
    """The others may be there later; the node selector and tolerations of `executor` are for all of them."""
    pools = [
        {"name": "spot", "tolerations": [{"key": "spot", "operator": "Exists"}]},
        {"name": "stable", "nodeSelector": {"life": "stable"}},
    ]
    asked = wanted(executor={"instances": 1, "pools": pools})
    images = ("docker.io/apache/spark:3.5.8", "runtime.sparkgen.invalid/sparkgen-runtime:1")
    drivers = node(*images)
    assert found(asked, nodes=(drivers,)) == [], "the pool spot selects no labels"
    asked = wanted(executor={"instances": 1, "nodeSelector": {"disk": "ssd"}, "pools": pools})
    spot = node(labels={"disk": "ssd"}, taints=[{"key": "spot", "effect": "NoSchedule"}])
    assert found(asked, nodes=(drivers, spot)) == []
    [finding] = found(asked, nodes=(drivers,))
    assert finding.message == (
        "no node of the cluster fits the executor's pod: in pool spot, 1 without the label disk=ssd; "
        "in pool stable, 1 without the label disk=ssd"
    )


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "a", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "a", "value": "b"}, True),
        ({"key": "a", "value": "c"}, False),
        ({"key": "a", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "b", "operator": "Exists"}, False),
    ],
)
def test_tolerations(toleration: dict[str, str], fits: bool) -> None:
    """By key, value and effect, as the scheduler compares them."""
    asked = wanted(driver={"tolerations": [toleration]}, executor={"tolerations": [toleration]})
    tainted = node("docker.io/apache/spark:3.5.8", "runtime.sparkgen.invalid/sparkgen-runtime:1",
                   taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}])  # fmt: skip
    assert (found(asked, nodes=(tainted,)) == []) is fits


CLASS = {"metadata": {"name": "fast", "annotations": {}}, "provisioner": "x"}
DEFAULT = {
    "metadata": {"name": "std", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "x",
}
LOCAL = {"metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner"}


def volume(name: str, phase: str = "Available") -> dict[str, Any]:
    """A volume of a StorageClass."""
    return {"metadata": {"name": "v"}, "spec": {"storageClassName": name}, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("name", "classes", "volumes", "why"),
    [
        (None, (CLASS,), (), "it names no StorageClass, and the cluster has no default one"),
        (None, (DEFAULT,), (), ""),
        (None, (), (volume(""),), ""),
        ("", (DEFAULT,), (), "it names no StorageClass"),
        ("", (), (volume(""),), ""),
        ("slow", (CLASS,), (), "the StorageClass slow does not exist"),
        ("slow", (CLASS,), (volume("slow", "Bound"),), "the StorageClass slow does not exist"),
        ("slow", (CLASS,), (volume("slow"),), ""),
        ("fast", (CLASS,), (), ""),
        ("local", (LOCAL,), (), "the StorageClass local makes no volumes, and none is free"),
        ("local", (LOCAL,), (volume("local"),), ""),
    ],
)
def test_a_claim_that_nobody_binds(name: str | None, classes: Any, volumes: Any, why: str) -> None:
    """Neither a StorageClass nor a free volume; what may be bound later is no finding."""
    spec = {} if name is None else {"storageClassName": name}
    claim = {"metadata": {"name": "data"}, "spec": spec, "status": {"phase": "Pending"}}
    asked = wanted(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
                   driver={"volumeMounts": [{"name": "data", "mountPath": "/data"}]})  # fmt: skip
    said = found(asked, storage=Storage({"data": claim}, classes, volumes))
    assert [one.severity for one in said] == ([WARNING] if why else [])
    assert [one.message for one in said] == (
        [f"the claim data, which the driver mounts, is not bound: {why}"] if why else []
    )
    bound = {**claim, "status": {"phase": "Bound"}}
    assert found(asked, storage=Storage({"data": bound}, classes, volumes)) == []


def test_a_run_beside_another() -> None:
    """It is said before there are two drivers; not where nothing starts."""
    asked = wanted()
    [finding] = found(asked, active=("pi-1", "pi-2"))
    assert (finding.severity, finding.check) == (WARNING, "beside")
    assert finding.message == (
        "the document has changed, so this starts another run while an earlier one is active: pi-1, pi-2"
    )
    assert finding.next_step == "to end the earlier run first: sparkgen kill pi --run pi-1 -n analytics"
    job = next(item for item in asked.objects if item["kind"] == "Job")
    there = {("Job", job["metadata"]["name"]): {"metadata": {"resourceVersion": "1"}}}
    assert found(asked, active=("pi-1",), live=there) == []
    assert found(asked, active=Unknown("no right")) == []


@pytest.mark.parametrize(
    ("document", "role"),
    [
        (history_server({}), "history server"),
        (service({}), "shuffle service"),
        ({**STAGING, "spec": {**STAGING["spec"], "storage": {"claim": "artifacts"}}}, "staging server"),
    ],
)
def test_servers_are_called_by_their_names(document: dict[str, Any], role: str) -> None:
    """A Deployment is not always a history server."""
    objects = resources.render(model.describe(document, "analytics"))
    assert {(one.role, one.count) for one in needs.pods(objects)} == {(role, 0)}


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({"executor": {"instances": 3}}, 3),
        ({"dynamicAllocation": {"enabled": True, "minExecutors": 1, "initialExecutors": 2}}, 2),
    ],
)
def test_executors_that_spark_creates_count(spec: dict[str, Any], count: int) -> None:
    """Their number is in the driver's properties, because no allocator reads a tuning file."""
    application = {
        "kind": "SparkApplication",
        "metadata": {"name": "pi"},
        "spec": {
            "type": "Python",
            "sparkVersion": "3.5.8",
            "image": "spark",
            "mainApplicationFile": "local:///opt/a.py",
            "allocator": "spark",
            **spec,
        },
    }
    objects = resources.render(model.describe(application, "analytics"))
    assert [(one.role, one.count) for one in needs.pods(objects)] == [("driver", 1), ("executor", count)]
