"""`sparkgen import` as a person calls it: streams, files, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import Cli

PI = """\
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: pi
  namespace: {namespace}
spec:
  type: Python
  sparkVersion: "3.5.8"
  image: docker.io/apache/spark:3.5.8
  mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
  driver: {{memory: 1g{more}}}
  executor: {{instances: 2, memory: 1g}}
"""


def pi(namespace: str = "one", more: str = "") -> str:
    """A document of kubeflow's operator."""
    return PI.format(namespace=namespace, more=more)


def test_a_document_goes_out_and_the_report_beside_it(cli: Cli) -> None:
    """The document is on standard output, the report on standard error, and nothing lost is 0."""
    result = cli("import", "-", stdin=pi())
    assert result.code == 0
    assert "kind: SparkApplication\n" in result.out
    assert result.err.startswith("<stdin>:1:1: SparkApplication pi: nothing lost\n")
    assert cli("validate", "-", stdin=result.out).code == 0


def test_a_loss_is_a_finding(cli: Cli) -> None:
    """What cannot be carried over has its line, reason and next step, and the exit code is 1."""
    result = cli("import", "-", stdin=pi(more=", hostNetwork: true"))
    assert result.code == 1
    assert "<stdin>:11:37: lost: spec.driver.hostNetwork: driver and executors" in result.err
    assert "    next: expose ports with a Service" in result.err
    assert "#   spec.driver.hostNetwork (line 11): " in result.out
    assert cli("validate", "-", stdin=result.out).code == 0


def test_the_report_as_json(cli: Cli) -> None:
    """--report json is one JSON value on standard error, and none leaves the stream empty."""
    result = cli("import", "-", "--report", "json", stdin=pi())
    assert cli("import", "-", "--report", "JSON", stdin=pi()) == result
    value = json.loads(result.err)
    assert value["summary"]["applications"] == 1
    assert value["summary"]["lost"] == 0
    assert {"source": "spec.driver.memory", "line": 11}.items() <= next(
        entry for entry in value["applications"][0]["values"] if entry["target"] == "spec.driver.memory"
    ).items()
    assert cli("import", "-", "--report", "none", stdin=pi()).err == ""


def test_a_directory_becomes_a_directory(cli: Cli) -> None:
    """Each application has a file; two of one name have their namespaces in the files' names."""
    Path("apps/deep").mkdir(parents=True)
    Path("apps/a.yaml").write_text(pi("one"))
    Path("apps/deep/b.yaml").write_text(pi("two"))
    Path("apps/deep/submit.sh").write_text(
        "spark-submit --class o.Main --conf spark.kubernetes.container.image=a:3.5.8 local:///a.jar"
    )
    Path("apps/service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")
    result = cli("import", "apps", "-o", "out")
    assert (result.code, result.out) == (0, "")
    assert sorted(path.name for path in Path("out").iterdir()) == ["main.yaml", "one-pi.yaml", "two-pi.yaml"]
    assert "skipped: 1 Service" in result.err
    assert "3 applications imported" in result.err
    assert cli("validate", "out").code == 0


def test_files_are_not_overwritten_unless_asked(cli: Cli) -> None:
    """An imported document that somebody has edited is worth more than a new import."""
    assert cli("import", "-", "-o", "out", stdin=pi()).code == 0
    Path("out/pi.yaml").write_text("mine")
    refused = cli("import", "-", "-o", "out", stdin=pi())
    assert refused.code == 2
    assert "out/pi.yaml exists already" in refused.err
    assert Path("out/pi.yaml").read_text() == "mine"
    assert cli("import", "-", "-o", "out", "--force", stdin=pi()).code == 0
    assert "kind: SparkApplication" in Path("out/pi.yaml").read_text()


def test_a_spark_submit_command_line(cli: Cli) -> None:
    """Behind `--` stands what a person would type; options of import come first."""
    words = ["spark-submit", "--class", "org.example.Main", "local:///opt/app.jar", "100"]
    result = cli("import", "--image", "example/app:3.5.8", "--name", "sums", "--", *words)
    assert result.code == 0
    assert "  name: sums\n" in result.out
    assert "  image: example/app:3.5.8\n" in result.out
    assert '    - "100"\n' in result.out
    assert cli("validate", "-", stdin=result.out).code == 0


def test_what_the_command_says_wins_and_is_reported(cli: Cli) -> None:
    """--image and --spark-version replace what the input says, and the report says so."""
    result = cli(
        "import", "-", "--image", "a:4.0.1", "--spark-version", "4.0.1", "--report", "full", stdin=pi()
    )
    assert result.code == 0
    assert "  image: a:4.0.1\n" in result.out
    assert '  sparkVersion: "4.0.1"\n' in result.out
    assert "another form: spec.image -> spec.image: replaced by --image" in result.err


def test_the_value_of_a_variable_is_not_shown(cli: Cli) -> None:
    """A variable that is called a password: the report names the line, and neither output has the value."""
    Path("submit.sh").write_text(
        "PASSWORD=hunter2\nspark-submit --conf spark.my.key=$PASSWORD local:///a.py\n"
    )
    result = cli("import", "submit.sh")
    assert "line 1 of the script sets it" in result.err
    assert "hunter2" not in result.err + result.out


def test_what_cannot_be_read_has_its_place(cli: Cli) -> None:
    """Text that is no YAML, a quote without an end, and a missing file are problems, and no tracebacks."""
    Path("bad.yaml").write_text("apiVersion: [sparkoperator.k8s.io/v1beta2\n")
    Path("bad.sh").write_text("spark-submit --name 'never ends\n")
    for name, place in (("bad.yaml", "bad.yaml:"), ("bad.sh", "bad.sh:1:21"), ("none.yaml", "none.yaml:1:1")):
        result = cli("import", name)
        assert result.code == 1
        assert result.out == ""
        assert place in result.err
        assert "Traceback" not in result.err


def test_nothing_to_import_is_a_finding(cli: Cli) -> None:
    """A file of other things gives no document, and says which they are."""
    result = cli("import", "app.yaml")
    assert result.code == 1
    assert result.out == ""
    assert "0 applications imported" in result.err


def test_wrong_usage(cli: Cli) -> None:
    """A name that no application can have, and one name for two applications, are wrong usage."""
    assert cli("import", "-", "--name", "Big_Name", stdin=pi()).code == 2
    both = cli("import", "-", "--name", "small", stdin=f"{pi('one')}---\n{pi('two')}")
    assert both.code == 2
    assert "the input has 2" in both.err
    assert cli("import").code == 2
