"""Laws of policy: it agrees with another reading of Pod Security; fixing ends, and changes nothing else."""

from __future__ import annotations

import copy
import difflib
import io
import json
import re
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from k8s import pod_security
from sparkgen import semantics
from sparkgen.cli.lint import _finder
from sparkgen.document import load
from sparkgen.errors import Severity
from sparkgen.lint import PROFILES, Config, Policy, check, fix_text
from sparkgen.lint.settings import Settings
from sparkgen.lint.subject import Subject
from sparkgen.usecases.lint import Review
from tests import scale
from tests.property.strategies import documents
from tests.unit.semantics.documents import application

FLUX = Settings(controllers=("flux",))
REVIEW = Review(Policy(Config(profiles=tuple(PROFILES), settings=FLUX)), "/")
RESTRICTED = {f"SG21{digit}" for digit in range(8)}

CONTEXT = st.fixed_dictionaries(
    {},
    optional={
        "privileged": st.booleans(),
        "allowPrivilegeEscalation": st.booleans(),
        "runAsUser": st.sampled_from([0, 185, 10001]),
        "runAsNonRoot": st.booleans(),
        "readOnlyRootFilesystem": st.booleans(),
        "procMount": st.sampled_from(["Default", "Unmasked"]),
        "capabilities": st.fixed_dictionaries(
            {},
            optional={
                "add": st.lists(st.sampled_from(["NET_BIND_SERVICE", "CHOWN"]), max_size=2, unique=True),
                "drop": st.sampled_from([["ALL"], ["NET_RAW"]]),
            },
        ),
        "seccompProfile": st.sampled_from([{"type": "RuntimeDefault"}, {"type": "Unconfined"}]),
        "appArmorProfile": st.sampled_from([{"type": "RuntimeDefault"}, {"type": "Unconfined"}]),
        "seLinuxOptions": st.sampled_from([{"type": "container_t"}, {"type": "spc_t"}, {"level": "s0:c1"}]),
    },
)
POD_CONTEXT = st.fixed_dictionaries(
    {},
    optional={
        "runAsUser": st.sampled_from([0, 185, 10001]),
        "runAsNonRoot": st.booleans(),
        "seccompProfile": st.sampled_from([{"type": "RuntimeDefault"}, {"type": "Unconfined"}]),
        "sysctls": st.sampled_from(
            [[{"name": name, "value": "1"}] for name in ("kernel.msgmax", "net.ipv4.tcp_rmem")]
        ),
    },
)
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": st.just("helper"), "image": st.just("registry.example.com/tools/helper:1.0.0")},
        optional={
            "securityContext": CONTEXT,
            "ports": st.just([{"containerPort": 9000, "hostPort": 9000}]),
        },
    ),
    max_size=1,
)
ROLE = st.fixed_dictionaries(
    {},
    optional={
        "securityContext": CONTEXT,
        "podSecurityContext": POD_CONTEXT,
        "initContainers": CONTAINERS,
        "template": st.fixed_dictionaries(
            {},
            optional={
                "spec": st.fixed_dictionaries(
                    {}, optional={"securityContext": POD_CONTEXT, "restartPolicy": st.just("Always")}
                )
            },
        ),
    },
)
SECURED = st.fixed_dictionaries(
    {},
    optional={
        "driver": ROLE,
        "executor": ROLE
        | st.sampled_from(["hostNetwork", "hostPID", "hostIPC"]).map(
            lambda name: {"template": {"spec": {name: True}}}
        ),
    },
)


def in_text(value: dict[str, Any], comments: bool) -> str:
    """A document as text, with a comment at the end of every line if asked for."""
    text = io.StringIO()
    yaml.safe_dump(value, text, sort_keys=False, default_flow_style=False, width=10_000)
    lines = text.getvalue().splitlines()
    simple = comments and all(
        re.fullmatch(r" *(- )*[A-Za-z0-9./-]+:( [\w./:'-]+| \[\]| \{\})?", line) for line in lines
    )
    return "".join(f"{line} # {number}\n" if simple else f"{line}\n" for number, line in enumerate(lines))


@settings(max_examples=scale.count("tests/property/test_lint.py", 60, 10))
@given(SECURED)
def test_restricted_finds_what_pod_security_refuses(spec: dict[str, Any]) -> None:
    """The rules, and the reading of the standard in tools/, refuse the same documents."""
    value = application(copy.deepcopy(spec))
    (document,) = load(("-",), stdin=lambda: in_text(value, comments=False).encode()).documents
    pods = Subject.of(document.value, Settings()).pods
    refused = any(pod_security.violations(pod.template) for pod in pods)
    found = {problem.code for problem, _ in check(document, Settings())} & RESTRICTED
    assert bool(found) == refused, (found, [pod_security.violations(pod.template) for pod in pods])


@settings(max_examples=scale.count("tests/property/test_lint.py", 30, 6))
@given(documents())
def test_rules_never_fail_and_have_places(value: dict[str, Any]) -> None:
    """Whatever a valid document holds, every finding has a line of it."""
    # JSON, because PyYAML writes texts such as `y` without quotes, which Kubernetes reads as booleans.
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    for document in load(("-",), stdin=text.encode).documents:
        for problem, _ in check(
            document, Settings(registries=("x/",), required_labels=("team",), max_cores=1)
        ):
            assert 1 <= problem.position.line <= text.count("\n")
            assert problem.severity is Severity.WARNING


def means(data: bytes) -> list[Any]:
    """The documents' values."""
    return [document.value for document in load(("-",), stdin=lambda: data).documents]


@settings(max_examples=scale.count("tests/property/test_lint.py", 25, 6))
@given(SECURED, st.booleans())
def test_fixing_twice_is_fixing_once_and_nothing_is_lost(spec: dict[str, Any], comments: bool) -> None:
    """What is fixed is not found again, nothing new is; every comment and other line stays in order."""
    value = application(copy.deepcopy(spec))
    before = in_text(value, comments).encode()
    (document,) = load(("-",), stdin=lambda: before).documents
    find = _finder(REVIEW, "app.yaml")
    once = fix_text(before, find)
    (changed,) = load(("-",), stdin=lambda: once.data).documents
    assert fix_text(once.data, find).data == once.data
    old, new = (
        {(problem.code, problem.path) for problem, _ in find(version)} for version in (document, changed)
    )
    assert new == old - {(problem.code, problem.path) for problem in once.done}
    invalid = [problem for problem in semantics.check(changed) if problem.severity is Severity.ERROR]
    assert not (once.done and invalid)
    texts = [re.sub(r"\{.*\}", "{}", data.decode()).splitlines() for data in (before, once.data)]
    gone = [line[1:] for line in difflib.unified_diff(texts[0], texts[1], n=0) if re.match("-(?!--)", line)]
    assert not [line for line in gone if "#" in line]
    assert all(re.fullmatch(r" *(template|spec|restartPolicy|driver|executor):.*", line) for line in gone)
