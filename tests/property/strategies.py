"""Documents for property tests, generated from the schema itself, and documents broken at one place.

`documents()` gives valid ones. What the schema says is taken from the schema; what it cannot say (that a
mount needs its volume, that a minimum is at most its maximum) is put right by `consistent`. Kubernetes'
own types are generated shallowly, from the table `KUBERNETES`.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from sparkgen.errors import Path, Severity
from sparkgen.grammar.memory import to_mib
from sparkgen.model.logarchive import FIELDS_OF_STORES, MAX_SIZE, seconds
from sparkgen.model.properties import lookup
from sparkgen.schema import fields
from sparkgen.schema.fields import Field
from sparkgen.semantics.rules_backend import RESTRICTIONS
from sparkgen.semantics.rules_logarchive import LEAST_AGE_SECONDS, LEAST_MIB, SHORTEST_SECONDS

Value = dict[str, Any]
Strategy = st.SearchStrategy[Any]

MOST_OPTIONAL = 8
"""An object gets at most so many of its optional fields: documents stay readable when they fail."""
LEAST_SHARE = 5
"""One in so many of an object's optional fields is there at least: large objects, such as a role's, would
otherwise be nearly empty, and their fields never meet."""

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,4})?", fullmatch=True)
"""Names of objects and containers. They start like no name that sparkgen takes for itself."""
WORDS = st.text(string.ascii_letters, min_size=1, max_size=8)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.just(" "), min_size=1, max_size=12
).map(str.strip)
"""Anything printable: quotes, braces, dollar signs, other scripts."""
LABEL_KEYS = st.builds("{}{}".format, st.sampled_from(["", "example.com/"]), WORDS)
LABEL_VALUES = st.from_regex(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,6}[A-Za-z0-9])?)?", fullmatch=True)
PORTS = st.integers(9000, 9999)
PATHS = st.builds("/srv/{}".format, NAMES)

FILE_NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}\.(conf|properties|yaml)", fullmatch=True)
"""Names of files that mean nothing to Spark and Hadoop: what they read, rules look into."""

GRAMMARS: Mapping[str, list[str]] = {
    "cpu": ["500m", "1", "1500m", "0.5"],
    "cron": ["30 2 * * *", "*/15 8-18 * * MON-FRI", "@daily"],
    "duration": ["60s", "5m", "1h", "1500ms"],
    "factor": ["0.1", "0.25", "0.4"],
    "memory": ["1g", "1536m", "2g", "4096m"],
    "timestamp": ["2091-02-01T06:00:00Z", "2091-02-01T06:00:00+01:00"],
    "timezone": ["Europe/Berlin", "America/New_York", "UTC"],
}
"""Texts in each of sparkgen's grammars (`x-sparkgen-grammar`)."""

SPARK_PROPERTIES: Mapping[str, Strategy] = {
    "spark.sql.shuffle.partitions": st.integers(1, 2000).map(str),
    "spark.sql.adaptive.enabled": st.sampled_from(["true", "false"]),
    "spark.serializer": st.just("org.apache.spark.serializer.KryoSerializer"),
    "spark.app.description": TEXTS,
}
"""Properties that mean what they say, whatever else a document says."""


def _mapping(required: Mapping[str, Strategy], **optional: Strategy) -> Strategy:
    return st.fixed_dictionaries(dict(required), optional=optional)


def _selector() -> Strategy:
    return _mapping({"matchLabels": st.dictionaries(LABEL_KEYS, LABEL_VALUES, min_size=1, max_size=2)})


def _requirement(operators: list[str]) -> Strategy:
    with_values = _mapping(
        {
            "key": LABEL_KEYS,
            "operator": st.sampled_from(operators),
            "values": st.lists(LABEL_VALUES, min_size=1, max_size=2),
        }
    )
    return with_values | _mapping(
        {"key": LABEL_KEYS, "operator": st.sampled_from(["Exists", "DoesNotExist"])}
    )


def _node_affinity() -> Strategy:
    terms = st.lists(
        _mapping({"matchExpressions": st.lists(_requirement(["In", "NotIn"]), min_size=1, max_size=2)}),
        min_size=1,
        max_size=2,
    )
    required = _mapping({"nodeSelectorTerms": terms})
    return _mapping({"nodeAffinity": _mapping({"requiredDuringSchedulingIgnoredDuringExecution": required})})


def _source() -> Strategy:
    return (
        _mapping({"emptyDir": _mapping({}, medium=st.just("Memory"), sizeLimit=st.just("1Gi"))})
        | _mapping({"configMap": _mapping({"name": NAMES}, optional=st.booleans())})
        | _mapping({"secret": _mapping({"secretName": NAMES}, defaultMode=st.just(0o400))})
        | _mapping({"persistentVolumeClaim": _mapping({"claimName": NAMES})})
    )


def _file() -> Strategy:
    """A file's text, or the key of a ConfigMap or a Secret that holds it."""
    reference = _mapping({"name": NAMES, "key": WORDS})
    return TEXTS | st.builds(
        lambda kind, one: {kind: one}, st.sampled_from(["secretKeyRef", "configMapKeyRef"]), reference
    )


def _variable() -> Strategy:
    reference = _mapping({"name": NAMES, "key": WORDS})
    source = st.builds(
        lambda key, one: {key: one}, st.sampled_from(["secretKeyRef", "configMapKeyRef"]), reference
    )
    name = st.builds("APP_{}".format, WORDS)
    return _mapping({"name": name, "value": TEXTS}) | _mapping({"name": name, "valueFrom": source})


KUBERNETES: Mapping[str, Callable[[], Strategy]] = {
    "Affinity": _node_affinity,
    "Container": lambda: _mapping(
        {"name": NAMES, "image": st.just("docker.io/library/busybox:1.37")},
        command=st.just(["sh", "-c", "sleep 1"]),
        resources=st.just({"requests": {"cpu": "10m", "memory": "16Mi"}}),
    ),
    "ContainerPort": lambda: _mapping({"containerPort": PORTS}, protocol=st.just("TCP")),
    "EnvFromSource": lambda: (
        _mapping({"secretRef": _mapping({"name": NAMES})}, prefix=st.just("APP_"))
        | _mapping({"configMapRef": _mapping({"name": NAMES}, optional=st.booleans())})
    ),
    "EnvVar": _variable,
    "HostAlias": lambda: _mapping(
        {"ip": st.just("10.0.0.5"), "hostnames": st.lists(NAMES, min_size=1, max_size=2, unique=True)}
    ),
    "Lifecycle": lambda: st.just({"preStop": {"exec": {"command": ["sh", "-c", "sleep 1"]}}}),
    "NetworkPolicyPeer": lambda: (
        _mapping({"namespaceSelector": _selector()}, podSelector=_selector())
        | st.just({"ipBlock": {"cidr": "10.0.0.0/8"}})
    ),
    "PodDNSConfig": lambda: _mapping({"searches": st.just(["corp.example.com"])}),
    "PodSecurityContext": lambda: _mapping(
        {}, runAsUser=st.integers(1000, 2000), fsGroup=st.integers(1, 999)
    ),
    "PodTemplateSpec": lambda: _mapping(
        {},
        metadata=_mapping({"annotations": st.dictionaries(LABEL_KEYS, TEXTS, max_size=1)}),
        spec=_mapping({}, runtimeClassName=NAMES, enableServiceLinks=st.booleans()),
    ),
    "ResourceRequirements": lambda: _mapping(
        {"requests": st.just({"cpu": "50m", "memory": "64Mi"})}, limits=st.just({"memory": "128Mi"})
    ),
    "SecurityContext": lambda: _mapping({}, runAsUser=st.integers(1000, 2000)),
    "Toleration": lambda: (
        _mapping({"key": LABEL_KEYS, "operator": st.just("Exists")}, effect=st.just("NoSchedule"))
        | _mapping({"key": LABEL_KEYS, "operator": st.just("Equal"), "value": LABEL_VALUES})
    ),
    "TopologySpreadConstraint": lambda: _mapping(
        {
            "maxSkew": st.integers(1, 3),
            "topologyKey": st.just("topology.kubernetes.io/zone"),
            "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
        },
        labelSelector=_selector(),
    ),
    "Volume": lambda: st.builds(lambda name, source: {"name": name, **source}, NAMES, _source()),
    "VolumeMount": lambda: _mapping({"name": NAMES, "mountPath": PATHS}, readOnly=st.booleans()),
}
"""Name of a Kubernetes type -> shallow values of it."""

CONTENTS = st.builds(
    lambda text: {
        "items": [{"key": "lib_a.py", "path": "lib/a.py"}, {"key": "b.bin", "path": "b.bin", "mode": 0o755}],
        "data": {"lib_a.py": text},
        "binaryData": {"b.bin": "AAE="},
    },
    st.lists(TEXTS, max_size=3).map("\n".join),
)
"""Files that a ConfigMap of the run contains."""

OWN: Mapping[str, Strategy] = {
    "contents": CONTENTS,
    "metadata.name": NAMES,
    "metadata.namespace": NAMES,
    "mainApplicationFile": st.builds("local:///opt/app/{}".format, NAMES),
    "mainClass": st.builds("com.example.{}".format, WORDS),
    "sparkVersion": st.sampled_from(["3.5.8", "3.5", "4.0.1", "4.3.0"]),
    "javaOptions": st.builds("-Dword={} -XX:+UseG1GC".format, WORDS),
    "sparkConf": st.fixed_dictionaries({}, optional=dict(SPARK_PROPERTIES)),
    "hadoopConf": st.dictionaries(st.builds("fs.{}".format, WORDS), TEXTS, max_size=3),
    "arguments": st.lists(TEXTS, max_size=3),
    "loggers": st.dictionaries(
        st.builds("org.{}".format, WORDS), st.sampled_from(["WARN", "DEBUG"]), max_size=2
    ),
    "parentRefs": st.lists(
        _mapping({"name": NAMES}, namespace=NAMES, sectionName=NAMES), min_size=1, max_size=2
    ),
    "batchSchedulerOptions.resources": st.sampled_from([{"cpu": "4"}, {"cpu": 2, "memory": "8Gi"}]),
    "eventLog.dir": st.sampled_from(["s3a://logs/spark", "hdfs://namenode:8020/logs"]),
    "run.id": WORDS,
}
"""Last name of a field, or its last two with a dot -> its values, where the schema says too little."""


def _field(field: Field) -> Strategy:
    """Values of one field."""
    if field.kubernetes is not None:
        return KUBERNETES[field.kubernetes]()
    for name in (".".join(str(part) for part in field.path[-2:]), field.name):
        if name in OWN:
            return OWN[name]
    if field.is_map:
        keys = field.schema.get("propertyNames")
        if keys == {"$ref": "#/$defs/fileName"}:
            return st.dictionaries(FILE_NAMES, _file(), max_size=2)
        if keys == {"$ref": "#/$defs/dataHost"}:
            return st.dictionaries(NAMES, NAMES, max_size=2)
        values = LABEL_VALUES if keys == {"$ref": "#/$defs/labelKey"} else TEXTS
        return st.dictionaries(LABEL_KEYS, values, max_size=2)
    return st.one_of([_of_type(field, name) for name in field.types])


def _of_type(field: Field, name: str) -> Strategy:
    if name == "object":
        return objects(field)
    if name == "array":
        items = [one for one in field.examples[0] if isinstance(one, str)]
        return st.lists(st.sampled_from(items) if items else _field(field.item()), max_size=3)
    if name == "string":
        return _text(field)
    if name == "boolean":
        return st.booleans()
    least = field.schema.get("minimum", 0)
    if name == "integer":
        return st.integers(least, min(field.schema.get("maximum", least + 50), least + 50))
    return st.sampled_from([0.25, 0.5, 1, 1.0])


def _text(field: Field) -> Strategy:
    if "enum" in field.schema:
        return st.sampled_from(field.schema["enum"])
    if field.grammar:
        return st.sampled_from(GRAMMARS[field.grammar])
    examples = [one for one in field.examples if isinstance(one, str)]
    if examples:
        return st.sampled_from(examples)
    return NAMES if "pattern" in field.schema else TEXTS.filter(bool)


@st.composite
def objects(draw: st.DrawFn, field: Field) -> Value:
    """An object with its required fields and some of the others, in the schema's order."""
    children = list(field.children())
    optional = [child.name for child in children if not child.required]
    chosen: set[str] = set()
    if optional:
        least = len(optional) // LEAST_SHARE
        most = max(least, MOST_OPTIONAL)
        chosen = set(draw(st.lists(st.sampled_from(optional), min_size=least, max_size=most, unique=True)))
    return {child.name: draw(_field(child)) for child in children if child.required or child.name in chosen}


def documents(kind: str | None = None) -> st.SearchStrategy[Value]:
    """Valid documents of a kind, or of both: valid by the schema and, as far as it goes, by every rule."""
    kinds = fields.APPLICATION_KINDS if kind is None else (kind,)
    return st.one_of([_document(one).map(consistent) for one in kinds])


def _document(kind: str) -> st.SearchStrategy[Value]:
    root = fields.document(kind)
    return objects(root).map(lambda value: {**value, "kind": kind})


def separate(document: Value) -> Value:
    """A copy in which no two places share an object, as they do where a strategy gives the same one twice."""
    copied: Value = json.loads(json.dumps(document))
    return copied


# --- what the schema cannot say -------------------------------------------------------------------


def consistent(document: Value) -> Value:
    """A copy of a document with its contradictions removed."""
    value = separate(document)
    spec = value["spec"]
    if value["kind"] == fields.KINDS[1]:
        spec = spec["template"]
        spec.pop("restartPolicy", None)
        spec.pop("suspend", None)
        spec.pop("run", None)
    if value["kind"] not in fields.COMPLETED_KINDS:
        _language(spec)
        _lifetime(spec)
    _executors(spec)
    _gang(spec)
    _pools(spec)
    _runtime(spec)
    _accounts(spec)
    _login(spec)
    _shuffle(spec)
    _backend(spec)
    _event_log(spec.get("eventLog", {}))
    _log_archive(spec.get("logging", {}).get("archive", {}))
    volumes = _unique(spec.pop("volumes", []), "name")
    cache = _delivery(spec, [volume["name"] for volume in volumes])
    roles = [spec[role] for role in ("driver", "executor") if role in spec]
    for role in roles:
        _role(role, spec, [volume["name"] for volume in volumes])
    mounted = cache | {mount["name"] for role in roles for mount in role.get("volumeMounts", [])}
    if mounted:
        spec["volumes"] = [volume for volume in volumes if volume["name"] in mounted]
    return value


def _log_archive(section: Value) -> None:
    """A bucket, or a claim without a bucket's fields; and times that can be kept."""
    if not section:
        return
    if "url" in section:
        section.pop("claim", None)
    else:
        section.setdefault("claim", "spark-logs")
        for field in FIELDS_OF_STORES:
            section.pop(field, None)
    for field, least, text in (("interval", SHORTEST_SECONDS, "1m"), ("maxAge", LEAST_AGE_SECONDS, "1d")):
        if field in section and seconds(section[field]) < least:
            section[field] = text
    if to_mib(section.get("maxSize", MAX_SIZE)) < LEAST_MIB:
        section["maxSize"] = MAX_SIZE


def _runtime(spec: Value) -> None:
    """An image or a ConfigMap with the runtime."""
    if "runtimeConfigMap" in spec:
        spec.pop("runtimeImage", None)


def _backend(spec: Value) -> None:
    """Spark's own backend only where it follows every field."""
    refused = (row.field for row in RESTRICTIONS if row.field and row.severity is Severity.ERROR)
    if any(lookup(spec, path) is not None for path in refused):
        spec.pop("allocator", None)


def _gang(spec: Value) -> None:
    """A gang that can be complete, in a queue of a name that Kueue takes."""
    options = spec.get("batchSchedulerOptions", {})
    options.pop("minExecutors", None)
    if "queue" in options:
        options["queue"] = "team-a"
    if spec.get("batchScheduler") == "kube-scheduler":
        options["minExecutors"] = 0
        spec["batchSchedulerOptions"] = options


def _pools(spec: Value) -> None:
    """Pools of different names, whose shares and labels contradict nothing, and none for YuniKorn."""
    executor = spec.get("executor", {})
    found = _unique(executor.pop("pools", []), "name")
    if not found or spec.get("batchScheduler") == "yunikorn":
        return
    own = executor.get("nodeSelector", {})
    for pool in found:
        if "share" in pool:
            pool["share"] //= len(found)
        if "nodeSelector" in pool:
            pool["nodeSelector"] = {k: v for k, v in pool["nodeSelector"].items() if k not in own}
    executor["pools"] = found


PYTHON_FIELDS = ("requirements", "pythonPlatform", "pythonVersion")
"""Fields of `deps` that are of use together alone."""
PUSHED: Mapping[str, Mapping[str, Mapping[str, list[str]]]] = {
    "code": {
        "files": {"./conf/a.csv": ["conf/a.csv"], "../shared/*": ["_parent/shared/b", "_parent/shared/c"]},
        "pyFiles": {"./lib": ["lib/"], "./a.py": ["a.py"], "./x": ["x/"]},
    },
    "dependencies": {
        "jars": {"./jars": ["jars/a.jar", "jars/b.jar"]},
        "archives": {"./env.zip#env": ["env.zip"], "./t.tgz": ["t.tgz"]},
    },
}
"""Artifact -> field of `deps` -> entries and their paths inside."""


def _delivery(spec: Value, volumes: list[str]) -> set[str]:
    """Local entries that were pushed, each of them once; the volumes that `fetch` mounts."""
    artifacts = _unique(spec.pop("artifacts", []), "name")
    deps = {name: value for name, value in spec.pop("deps", {}).items() if name not in PYTHON_FIELDS}
    for artifact in artifacts:
        artifact["files"] = {}
        if "contents" in artifact:
            artifact.pop("reference", None)
        else:
            artifact.setdefault("reference", f"registry.example.com/data/etl@sha256:{'0f' * 32}")
        for field, entries in PUSHED[artifact["name"]].items():
            deps[field] = [*deps.get(field, []), *entries]
            artifact["files"].update(entries)
        if artifact["name"] == "dependencies":
            deps.update(requirements="requirements.txt", pythonVersion="3.10")
            artifact["files"]["requirements.txt"] = ["python/"]
        elif "mainApplicationFile" in spec:
            name = spec["mainApplicationFile"].rpartition("/")[2]
            spec["mainApplicationFile"] = f"./jobs/{name}"
            artifact["files"][f"./jobs/{name}"] = [f"jobs/{name}"]
    spec.update({"artifacts": artifacts} if artifacts else {})
    spec.update({"deps": deps} if deps else {})
    section = spec.get("delivery", {})
    if "cacheVolume" not in section:
        return set()
    section["cacheVolume"] = [*volumes, "none"][0]
    if not volumes or not artifacts or section.get("mount") == "image":
        del section["cacheVolume"]
    return {section["cacheVolume"]} if "cacheVolume" in section else set()


def _shuffle(spec: Value) -> None:
    """A service of the node has a name and a secret, and its directories lie apart."""
    section = spec.get("shuffleService")
    if section is None:
        return
    section["directories"] = list(dict.fromkeys(section.get("directories", [])))
    if section.get("mode") != "sidecar":
        section.setdefault("name", "shuffle-1")
        section.setdefault("secretName", "shuffle-1")


def _event_log(section: Value) -> None:
    """A claim is mounted at a directory of the pod."""
    if "claim" in section:
        section["dir"] = "file:///mnt/event-logs"


def services() -> st.SearchStrategy[Value]:
    """Valid documents of shuffle services."""
    return objects(fields.document(fields.SERVICE_KIND)).map(_consistent_service)


def _consistent_service(document: Value) -> Value:
    value = {**separate(document), "kind": fields.SERVICE_KIND}
    spec = value["spec"]
    _runtime(spec)
    spec["directories"] = list(dict.fromkeys(spec.get("directories", [])))
    spec["image"] = f"docker.io/apache/spark:{spec['sparkVersion']}"
    if "port" in spec.get("janitor", {}):
        spec["janitor"]["port"] += 100  # apart from the service's
    return value


def connect_servers() -> st.SearchStrategy[Value]:
    """Valid documents of Connect servers."""
    return _document(fields.CONNECT_KIND).map(consistent).map(_consistent_connect_server)


def notebooks() -> st.SearchStrategy[Value]:
    """Valid documents of notebooks."""
    return _document(fields.NOTEBOOK_KIND).map(consistent).map(_consistent_notebook)


def _consistent_notebook(value: Value) -> Value:
    if "kernelIdleTimeout" in value["spec"]["notebook"]:
        value["spec"]["notebook"]["kernelIdleTimeout"] = "90m"
    return value


def _consistent_connect_server(value: Value) -> Value:
    if not value["spec"]["sparkVersion"].startswith("4."):
        value["spec"].get("connect", {}).pop("token", None)
    policy = value["spec"].get("networkPolicy")
    if policy is None or policy.get("enabled") is False:
        value["spec"].get("connect", {}).pop("ingressFrom", None)
    return value


def history_servers() -> st.SearchStrategy[Value]:
    """Valid documents of history servers."""
    return objects(fields.document(fields.HISTORY_KIND)).map(_consistent_history_server)


def _consistent_history_server(document: Value) -> Value:
    value = {**separate(document), "kind": fields.HISTORY_KIND}
    spec = value["spec"]
    spec["image"] = f"docker.io/apache/spark:{spec['sparkVersion']}"
    _event_log(spec["eventLog"])
    for name in ("env", "secrets"):
        if name in spec:
            spec[name] = _unique(spec[name], "name")
    return value


def staging_servers() -> st.SearchStrategy[Value]:
    """Valid documents of staging servers."""
    return objects(fields.document(fields.STAGING_KIND)).map(_consistent_staging_server)


def _consistent_staging_server(document: Value) -> Value:
    value = {**separate(document), "kind": fields.STAGING_KIND}
    spec = value["spec"]
    _runtime(spec)
    if "garbageCollection" in spec:
        spec["storage"] = {"claim": "spark-staging"}
        spec["garbageCollection"].pop("schedule", None)
    elif len(spec["storage"]) != 1:
        spec["storage"] = {"s3": spec["storage"]["s3"]} if "s3" in spec["storage"] else {"claim": "staging"}
    if "image" in spec:
        spec["image"] = "registry.example.com/mirror/registry:3.1.2"
    for number, side in enumerate(("pull", "push")):
        options = spec.get(side, {})
        options.pop("nodePort", None)
        if options.get("serviceType") == "NodePort":
            options["nodePort"] = 30500 + number
    return value


def _language(spec: Value) -> None:
    suffix = {"Python": ".py", "R": ".R"}.get(spec["type"], ".jar")
    spec["mainApplicationFile"] += suffix
    if suffix == ".jar":
        spec.setdefault("mainClass", "com.example.Main")
    else:
        spec.pop("mainClass", None)
    spec["image"] = f"docker.io/apache/spark:{spec['sparkVersion']}"
    if spec["sparkVersion"].startswith("4"):
        spec.pop("scalaVersion", None)


def _lifetime(spec: Value) -> None:
    """What a Deployment (`Always`) and a Job can have."""
    restart = spec.get("restartPolicy", {})
    if restart.get("type") != "OnFailure":
        restart.pop("onFailureRetries", None)
    budget = spec.get("podDisruptionBudget", {})
    if restart.get("type") == "Always":
        for name in ("activeDeadlineSeconds", "timeToLiveSeconds", "suspend", "run"):
            spec.pop(name, None)
        if "maxUnavailable" in budget:
            budget.pop("minAvailable", None)
    else:
        budget.pop("maxUnavailable", None)
        if "minAvailable" in budget:
            budget["minAvailable"] = 1


def _executors(spec: Value) -> None:
    """The fewest, the first and the most executors in this order; somebody must keep shuffle data."""
    allocation = spec.get("allocation", {})
    if "maxPendingPods" in allocation:
        allocation["maxPendingPods"] += allocation.get("batchSize", 0)
    executor, dynamic = spec.get("executor", {}), spec.get("dynamicAllocation", {})
    if not dynamic.get("enabled"):
        spec.pop("dynamicAllocation", None)
        if executor.get("instances") == 0:
            executor["instances"] = 1
        return
    least = dynamic.get("minExecutors", 0)
    start = max(least, dynamic.get("initialExecutors", least))
    if "initialExecutors" in dynamic:
        dynamic["initialExecutors"] = start
    if "instances" in executor:
        executor["instances"] = start
    if "maxExecutors" in dynamic:
        dynamic["maxExecutors"] += max(start, 1)
    if dynamic.get("shuffleTrackingEnabled") is False:
        dynamic["shuffleTrackingEnabled"] = True


def _accounts(spec: Value) -> None:
    if "serviceAccount" in spec.get("driver", {}):
        spec.pop("serviceAccount", None)
    account = spec.get("serviceAccount", {})
    if account.get("create") is False:
        account["name"] = "existing"
        account.pop("annotations", None)


LOGINS = ("keytab", "ticketCache", "delegationToken")


def _login(spec: Value) -> None:
    """One login to Kerberos, with a principal where it needs one; only with a keytab as another user."""
    section = spec.get("kerberos")
    if section is None:
        return
    first = next((name for name in LOGINS if name in section), LOGINS[0])
    for name in LOGINS:
        if name != first:
            section.pop(name, None)
    section.setdefault(first, {"name": "alice-login", "key": "login"})
    if first == "delegationToken":
        section.pop("principal", None)
    else:
        section.setdefault("principal", "alice@EXAMPLE.COM")
    if first != "keytab":
        spec.pop("proxyUser", None)


def _role(role: Value, spec: Value, volumes: list[str]) -> None:
    if "image" in role:
        role["image"] = f"{spec['image']}-java17"
    if "coreLimit" in role:
        role["coreLimit"] = str(role.get("cores", 1) + 1)
    _mounts(role, volumes)
    for name in ("env", "hostAliases"):
        if name in role:
            role[name] = _unique(role[name], "name" if name == "env" else "ip")
    if "ports" in role:
        role["ports"] = _unique(role["ports"], "containerPort")
    containers = _unique([*role.get("initContainers", []), *role.get("sidecars", [])], "name")
    first = len(_unique(role.get("initContainers", []), "name"))
    for name, chosen in (("initContainers", containers[:first]), ("sidecars", containers[first:])):
        if name in role:
            role[name] = [{**one, "name": f"x-{one['name']}"} for one in chosen]


def _mounts(role: Value, volumes: list[str]) -> None:
    """Mounts of volumes that are there, each at a place of its own; each Secret and ConfigMap once."""
    mounts = role.pop("volumeMounts", [])
    if volumes and mounts:
        role["volumeMounts"] = [
            {**mount, "name": volumes[number % len(volumes)], "mountPath": f"/data/{number}"}
            for number, mount in enumerate(mounts)
        ]
    for name in ("secrets", "configMaps"):
        if name in role:
            role[name] = [
                {**one, "name": f"{one['name']}-{number}", "path": f"/mnt/{name.lower()}/{number}"}
                for number, one in enumerate(role[name])
            ]


def _unique(items: list[Value], key: str) -> list[Value]:
    return list({item[key]: item for item in reversed(items)}.values())[::-1]


# --- documents broken at one place ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Broken:
    """A document with one defect: where it is, and the code of the problem to expect."""

    value: Value
    path: Path
    code: str


IDENTITY = ({("apiVersion",), ("kind",)}, "SG007")
"""Whatever is wrong with these has a code of its own."""


@st.composite
def broken(draw: st.DrawFn, document: Value) -> Broken:
    """A valid document, broken at one place that `draw` chooses."""
    root = fields.document(document["kind"])
    places = list(walk(root, document))
    kinds = [(defect, [place for place in places if defect.fits(*place)]) for defect in DEFECTS]
    defect, candidates = draw(st.sampled_from([one for one in kinds if one[1]]))
    field, value = draw(st.sampled_from(candidates))
    copied = separate(document)
    path = defect.apply(copied, field, value)
    return Broken(copied, path, IDENTITY[1] if path in IDENTITY[0] else defect.code)


def walk(field: Field, value: Any) -> Iterator[tuple[Field, Any]]:
    """Every place of a document that the schema knows, with its value."""
    yield field, value
    members: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    for part, member in members:
        child = field.child(part)
        if child is not None:
            yield from walk(child, member)


@dataclass(frozen=True, slots=True)
class Defect:
    """A way to break a document: which places it fits, and what it does to one (returns its path)."""

    code: str
    fits: Callable[[Field, Any], bool]
    apply: Callable[[Value, Field, Any], Path]


def put(document: Value, path: Path, value: Any) -> Path:
    """Replace the value at a path, in place."""
    holder: Any = document
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return path


def _remove(document: Value, field: Field, _value: Any) -> Path:
    holder: Any = document
    for part in field.path[:-1]:
        holder = holder[part]
    del holder[field.path[-1]]
    return field.path


def _mistyped(document: Value, field: Field, _value: Any) -> Path:
    wrong: Any = 7 if not {"integer", "number"} & set(field.types) else ["seven"]
    return put(document, field.path, wrong)


DEFECTS = (
    Defect(
        "SG010",
        lambda field, value: isinstance(value, dict) and field.schema.get("additionalProperties") is False,
        lambda document, field, _: put(document, (*field.path, "zzzUnheardOf"), 1),
    ),
    Defect("SG011", lambda field, _: field.required, _remove),
    Defect("SG012", lambda field, _: bool(field.path and field.types), _mistyped),
    Defect(
        "SG012",
        lambda field, _: bool(field.path and field.types),
        lambda document, field, _: put(document, field.path, None),
    ),
    Defect(
        "SG013",
        lambda field, _: "enum" in field.schema,
        lambda document, field, _: put(document, field.path, "zzz-unheard-of"),
    ),
    Defect(
        "SG015",
        lambda field, value: "minimum" in field.schema and isinstance(value, int),
        lambda document, field, _: put(document, field.path, field.schema["minimum"] - 1),
    ),
    Defect(
        "SG014",
        lambda field, value: "pattern" in field.schema and not field.grammar and isinstance(value, str),
        lambda document, field, _: put(document, field.path, "\n"),
    ),
)
"""Every way in which `broken` breaks a document."""

SCALARS = st.none() | st.booleans() | st.integers(-5, 99999) | st.floats() | st.text(max_size=6)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
"""Any value that YAML can hold."""


@st.composite
def mutated(draw: st.DrawFn, document: Value) -> Value:
    """A document with anything at some of its places: it may be valid still."""
    value = separate(document)
    places = [field.path for field, _ in walk(fields.document(document["kind"]), document) if field.path]
    for path in draw(st.lists(st.sampled_from(places), min_size=1, max_size=3, unique=True)):
        try:
            put(value, path, draw(_like(_at(value, path)) | ANYTHING))
        except (KeyError, IndexError, TypeError):
            continue  # an earlier mutation took the place away
    return value


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _like(value: Any) -> Strategy:
    """Values of the type of another: they are often valid where it is."""
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, int):
        return st.integers(0, 100)
    return TEXTS if isinstance(value, str) else st.just(type(value)())
