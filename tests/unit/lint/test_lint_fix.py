"""`--fix`: the text of a file with what can be put right, every other character where it was."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sparkgen.cli.lint import _finder
from sparkgen.document import Document
from sparkgen.lint import PROFILES, Config, Policy, fix, fix_text
from sparkgen.lint.settings import Settings
from sparkgen.usecases.lint import Review

HEAD = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: # who
  name: report # the report
{metadata}spec:
  type: Python
  sparkVersion: "3.5.8"
  image: registry.example.com/team/report:1.7.0
  mainApplicationFile: local:///opt/app/report.py
"""
GUARDS = "  target: flux\n"
FLUX = Settings(controllers=("flux",))
REVIEW = Review(Policy(Config(profiles=tuple(PROFILES), settings=FLUX)), "/")


def fixed(text: str, review: Review = REVIEW) -> str:
    """The text after all fixes; fixing it again changes nothing."""
    once = fix_text(text.encode(), _finder(review, "app.yaml")).data
    assert fix_text(once, _finder(review, "app.yaml")).data == once
    return once.decode()


def with_spec(lines: str) -> str:
    """A document that is guarded against pruning, with more lines in its spec."""
    return HEAD.format(metadata=GUARDS) + lines


def test_a_field_comes_behind_the_last_line_of_its_mapping() -> None:
    """Comments and order stay."""
    assert fixed(HEAD.format(metadata="")) == HEAD.format(metadata=GUARDS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("metadata: {name: report} # who\n", "metadata: {name: report, target: flux} # who\n"),
        ("metadata: { name: report, } # who\n", "metadata: { name: report, target: flux } # who\n"),
        ("metadata: {\n  name: report\n}\n", "metadata: {\n  name: report\n}\n"),
        (
            "metadata:\n    name: report\n    annotations:\n      a: |\n        text\n\n    # about\n\n",
            "metadata:\n    name: report\n    annotations:\n      a: |\n        text\n    target: flux\n"
            "\n    # about\n\n",
        ),
        (
            "metadata:\n  name: report\n  labels: {a: b,\n    c: d} # both\n",
            "metadata:\n  name: report\n  labels: {a: b,\n    c: d} # both\n  target: flux\n",
        ),
        (
            "metadata:\n  name: report\n  labels: &a\n    a: b\n  annotations: *a\n",
            "metadata:\n  name: report\n  labels: &a\n    a: b\n  annotations: *a\n  target: flux\n",
        ),
    ],
)
def test_a_field_is_added_in_the_style_that_is_there(before: str, after: str) -> None:
    """In braces and in lines, with their indentation; braces over several lines are left to people."""
    text = HEAD.format(metadata="").replace("metadata: # who\n  name: report # the report\n", "{}")
    assert fixed(text.replace("{}", before)) == text.replace("{}", after)


@pytest.mark.parametrize("metadata", ["  target: argocd\n", "  target: kubectl\n"])
def test_what_somebody_chose_is_not_changed(metadata: str) -> None:
    """Another controller than the repository's is a finding for people."""
    assert fixed(HEAD.format(metadata=metadata)) == HEAD.format(metadata=metadata)


def test_without_a_known_controller_people_decide() -> None:
    """One of two would be a guess."""
    text = HEAD.format(metadata="")
    for controllers in ((), ("argocd", "flux")):
        policy = Policy(Config(profiles=("gitops",), settings=Settings(controllers=controllers)))
        assert fixed(text, Review(policy, "/")) == text


def test_the_ends_of_lines_stay() -> None:
    """A file of Windows stays one; a last line without an end gets one where a line follows."""
    text = HEAD.format(metadata="").replace("\n", "\r\n")
    assert fixed(text) == HEAD.format(metadata=GUARDS).replace("\n", "\r\n")
    last = "spec: {type: Python, sparkVersion: '3.5.8', image: 'a.example/b:1', mainApplicationFile: 'local:///a.py'}\n"
    head = "apiVersion: sparkgen.dev/v1alpha1\nkind: SparkApplication\n"
    assert fixed(f"{head}{last}metadata:\n  name: a") == f"{head}{last}metadata:\n  name: a\n{GUARDS}"


def test_a_byte_order_mark_stays() -> None:
    """It is no part of the text."""
    assert fixed("\ufeff" + HEAD.format(metadata="")) == "\ufeff" + HEAD.format(metadata=GUARDS)


def test_each_document_of_a_file_is_fixed() -> None:
    """Also behind one of somebody else, and an empty one."""
    other = HEAD.format(metadata="").replace("name: report", "name: other")
    joined = f"---\n---\n{HEAD.format(metadata='')}---\n# two\n{other}"
    guarded = HEAD.format(metadata=GUARDS)
    assert fixed(joined) == f"---\n---\n{guarded}---\n# two\n{guarded.replace('name: report', 'name: other')}"


def test_what_has_no_effect_goes() -> None:
    """With what would be empty without it: here the whole template."""
    spec = "  driver:\n    memory: 2g\n    template:\n      spec:\n        restartPolicy: Always\n"
    assert fixed(with_spec(spec)) == with_spec("  driver:\n    memory: 2g\n")
    spec = "  driver:\n    template:\n      spec:\n        automountServiceAccountToken: true\n"
    more = "  executor:\n    cores: 2\n"
    assert fixed(with_spec(spec + more)) == with_spec(more)


@pytest.mark.parametrize(
    "spec",
    [
        "  driver:\n    template:\n      spec:\n        restartPolicy: Always # kept for later\n",
        "  driver: {memory: 2g, template: {spec: {restartPolicy: Always}}}\n",
        "  run:\n    expiresAt: '2091-01-01T00:00:00Z'\n  restartPolicy:\n    type: Always\n",
    ],
)
def test_what_cannot_be_taken_out_safely_stays(spec: str) -> None:
    """A comment would be lost, braces are another form, and the last has an effect: people decide."""
    assert fixed(with_spec(spec)) == with_spec(spec)


def test_a_word_for_a_boolean_is_written_as_one() -> None:
    """`yes` is true to Kubernetes and text to YAML 1.2."""
    assert fixed(with_spec("  suspend: no # go\n")) == with_spec("  suspend: false # go\n")


CONTEXT = """\
  driver:
    initContainers: {anchor}
      - name: fetch # first
        image: registry.example.com/tools/fetch:1.0.0
        securityContext: # ours
          readOnlyRootFilesystem: true
{added}        # the end
  executor:
    {other}
"""
ADDED = '          allowPrivilegeEscalation: false\n          capabilities:\n            drop: ["ALL"]\n'


def test_a_container_gets_what_pod_security_asks_for() -> None:
    """In its own context, behind what is there."""
    text = CONTEXT.format(anchor="", added="", other="cores: 2")
    assert fixed(with_spec(text)) == with_spec(CONTEXT.format(anchor="", added=ADDED, other="cores: 2"))


def test_two_roles_that_share_their_text_are_fixed_together() -> None:
    """An alias brings the same lines to both."""
    shared = {"anchor": "&helpers", "other": "initContainers: *helpers"}
    text = CONTEXT.format(added="", **shared)
    assert fixed(with_spec(text)) == with_spec(CONTEXT.format(added=ADDED, **shared))


def test_a_container_of_root_keeps_its_capabilities() -> None:
    """It may need them: only what is safe is added."""
    text = CONTEXT.format(
        anchor="", added="          runAsUser: 0\n          runAsNonRoot: false\n", other="cores: 2"
    )
    after = text.replace(
        "          runAsNonRoot: false\n",
        "          runAsNonRoot: false\n          allowPrivilegeEscalation: false\n",
    )
    assert fixed(with_spec(text)) == with_spec(after)


def test_what_is_ignored_is_not_fixed() -> None:
    """Somebody has said why."""
    text = HEAD.format(metadata="").replace(
        "metadata: # who", "metadata: # sparkgen: ignore SG201 -- by hand"
    )
    assert fixed(text) == text


@pytest.mark.parametrize(
    "text", ["", "a: [", "a: 1\n", "\x00", HEAD.format(metadata="").replace("type:", "tipe:")]
)
def test_what_is_not_valid_is_not_touched(text: str) -> None:
    """A broken document is fixed by people first."""
    assert fixed(text) == text


class Work:
    """What a fix costs: how often it reads each byte of a file, and how often it reviews a document."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
        read, find = fix._documents, _finder(REVIEW, "app.yaml")
        size = finds = 0

        def reading(data: bytes) -> tuple[Document, ...]:
            nonlocal size
            size += len(data)
            return read(data)

        def finding(document: Document) -> Sequence[fix.Found]:
            nonlocal finds
            finds += 1
            return find(document)

        with monkeypatch.context() as patch:
            patch.setattr(fix, "_documents", reading)
            self.fixed = fix_text(text.encode(), finding)
        self.text = self.fixed.data.decode()
        self.reads = size / len(text)
        self.finds = finds


def test_many_findings_are_fixed_in_few_looks_at_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look takes as long as the file is large: not one for each finding. One that stays keeps no other."""
    one = with_spec("  suspend: no\n  driver:\n    env:\n    - {name: A, value: b}\n").replace(GUARDS, "")
    texts = [one.replace("name: report #", f"name: report{number} #") for number in range(60)]
    texts[7] = texts[7].replace(
        "metadata: # who\n  name: report7 # the report\n", "metadata: {\n  name: report7\n}\n"
    )
    work = Work(monkeypatch, "---\n".join(texts))
    assert work.reads < 6
    assert work.finds <= 2 * len(texts)
    assert work.text.count("target: flux") == 59
    assert work.text.count("suspend: false") == 60
    assert "metadata: {\n  name: report7\n}\n" in work.text


def test_findings_through_aliases_are_fixed_in_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several findings at one place share a look with others; each document needs its own looks alone."""
    context = CONTEXT.format(anchor="&helpers", added="", other="initContainers: *helpers")
    start, container = context.index("      - name"), "      - name: fetch0\n        image: a.example/b:1\n"
    container += "        securityContext:\n          readOnlyRootFilesystem: true\n"
    more = "".join(container.replace("fetch0", f"fetch{number}") for number in range(20))
    one = with_spec(context[:start] + more + context[start:])
    texts = [one.replace("name: report #", f"name: report{number} #") for number in range(3)]
    work = Work(monkeypatch, "---\n".join(texts))
    assert work.reads < 7
    assert work.finds <= 3 * len(texts)
    assert work.text.count("allowPrivilegeEscalation: false") == work.text.count('drop: ["ALL"]') == 63
    assert [problem.position.line for problem in work.fixed.done[:: 2 * 2 * 21]] == [
        problem.position.line + number * (one.count("\n") + 1)
        for number, problem in enumerate([work.fixed.done[0]] * len(texts))
    ]


def test_fixes_that_fail_cost_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written into Spark's properties is not deleted, and takes no look each; the others go."""
    names = [f"    spark.yarn.q{number}: a\n" for number in range(200)]
    idle = "    spark.master: local\n"
    spec = "  sparkConf:\n" + "".join([*names[:100], idle, *names[100:]])
    work = Work(monkeypatch, with_spec(spec))
    assert work.text == with_spec(spec.replace(idle, ""))
    assert work.reads < 8
    assert work.finds < 6


def test_a_document_is_looked_at_so_often_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails: here, each deletion would delete an anchor that somebody uses. What is left is said."""
    anchors = "".join(f"    spark.yarn.q{number}: &x{number} a\n" for number in range(100))
    uses = "".join(f"    spark.sql.q{number}: *x{number}\n" for number in range(100))
    work = Work(monkeypatch, with_spec(f"  sparkConf:\n{anchors}{uses}"))
    assert work.reads < 2 * fix.MOST_TRIES + 5
    assert not work.fixed.complete


def test_without_tries_everything_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left stays a finding."""
    monkeypatch.setattr(fix, "MOST_TRIES", 0)
    text = HEAD.format(metadata="") + "  suspend: no\n"
    assert fix_text(text.encode(), _finder(REVIEW, "app.yaml")) == fix.Fixed(text.encode(), (), False)
