"""executor.sh, run for real: bash, an allocator that says what the test tells it, and a fake java."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from sparkgen import contract

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="the stock Spark image has bash; this machine has not")

SCRIPT = Path(str(files("sparkgen").joinpath("templates", "run", "executor.sh")))

JAVA = f"""#!{sys.executable}
import json, os, sys
found = {{"args": sys.argv[1:], "pid": os.getpid(), "libraries": os.environ.get("LD_LIBRARY_PATH")}}
json.dump(found, sys.stdout)
"""

SLEEP = """#!/bin/sh
echo "$1" >> "$(dirname "$0")/pauses"
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


class Allocator(http.server.BaseHTTPRequestHandler):
    """Answers the start question with the codes of a list; the last one forever."""

    codes: list[int]
    asked: list[str]
    hold: list[float]

    def do_GET(self) -> None:
        """Say the next code."""
        self.asked.append(self.path)
        if self.hold:
            time.sleep(self.hold.pop())
        self.send_response(self.codes.pop(0) if len(self.codes) > 1 else self.codes[0])
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Be quiet."""


class Server6(http.server.ThreadingHTTPServer):
    """A server on IPv6."""

    address_family = socket.AF_INET6


@pytest.fixture
def allocator() -> Iterator[type[Allocator]]:
    """A listening allocator; a test sets its `codes`, and reads what it was `asked`."""
    handler = type("Handler", (Allocator,), {"codes": [200], "asked": [], "hold": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield handler
    server.shutdown()
    server.server_close()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the rendered template and the allocator give an executor, with a fake java."""
    java = tmp_path / "java home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(JAVA)
    java.chmod(0o755)
    return {
        "PATH": os.environ["PATH"],
        "JAVA_HOME": str(java.parents[1]),
        "SPARK_HOME": "/opt/spark",
        "SPARK_CONF_DIR": "/opt/sparkgen/conf",
        "SPARK_EXECUTOR_CORES": "2",
        "SPARK_EXECUTOR_MEMORY": "4096m",
        "SPARK_EXECUTOR_POD_IP": "10.1.2.3",
        "SPARK_EXECUTOR_POD_NAME": "pi-1-exec-7",
        "SPARK_EXECUTOR_ID": "7",
        "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@10.1.2.1:7078",
        "SPARK_APPLICATION_ID": "pi-12345678-abcde",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARKGEN_START_TIMEOUT_SECONDS": "20",
    }


@pytest.fixture
def executor(environment: dict[str, str], tmp_path: Path, allocator: type[Allocator]) -> Run:
    """A function: run the script to its end, with these variables on top (None takes one away)."""
    url = f"http://127.0.0.1:{allocator.port}/v1/executors/7/start"  # type: ignore[attr-defined]

    def run(script: Path = SCRIPT, **changes: str | None) -> subprocess.CompletedProcess[str]:
        env = {**environment, "SPARKGEN_START_URL": url, **changes}
        return subprocess.run(
            [BASH or "bash", str(script)],
            env={name: text for name, text in env.items() if text is not None},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def pauses(environment: dict[str, str], tmp_path: Path) -> Callable[[], list[str]]:
    """A function: the seconds of each pause that the script has made; none of them takes time."""
    sleep = tmp_path / "bin" / "sleep"
    sleep.parent.mkdir()
    sleep.write_text(SLEEP)
    sleep.chmod(0o755)
    environment["PATH"] = f"{sleep.parent}:{environment['PATH']}"
    kept = sleep.with_name("pauses")
    return lambda: kept.read_text().split() if kept.exists() else []


def arguments(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What java was called with."""
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    found: list[str] = json.loads(done.stdout)["args"]
    return found


def options(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The options of the JVM that the document gave: those between the fixed ones and the memory."""
    found = arguments(done)
    return found[found.index("-Djava.net.preferIPv6Addresses=false") + 1 : found.index("-Xms4096m")]


def test_waits_for_the_start_word(
    executor: Run, allocator: type[Allocator], pauses: Callable[[], list[str]]
) -> None:
    """202 means wait, 200 go: java is started once, after the word.

    An allocator that cannot hold the question is not flooded: a second lies between two of them.
    """
    allocator.codes[:] = [202, 202, 200]
    assert arguments(executor())
    assert allocator.asked == ["/v1/executors/7/start"] * 3
    assert pauses() == ["1", "1"]


def test_what_java_is_called_with(executor: Run, tmp_path: Path) -> None:
    """Spark's stock executor, at the pod's address, with the template's sizes."""
    found = arguments(executor())
    start = found.index("-cp")
    assert found[start - 2 : start] == ["-Xms4096m", "-Xmx4096m"]
    assert found[start + 1] == f"/opt/sparkgen/conf:/opt/spark/jars/*:{tmp_path}"
    assert found[start + 2] == "org.apache.spark.executor.CoarseGrainedExecutorBackend"
    given = found[start + 3 :]
    assert dict(zip(given[::2], given[1::2], strict=True)) == {
        "--driver-url": "spark://CoarseGrainedScheduler@10.1.2.1:7078",
        "--executor-id": "7",
        "--cores": "2",
        "--app-id": "pi-12345678-abcde",
        "--hostname": "10.1.2.3",
        "--bind-address": "10.1.2.3",
        "--resourceProfileId": "0",
    }


def spark_arguments(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The options of Spark's executor, by name."""
    found = arguments(done)
    given = found[found.index("org.apache.spark.executor.CoarseGrainedExecutorBackend") + 1 :]
    return dict(zip(given[::2], given[1::2], strict=True))


def test_an_ipv6_address_of_the_pod_gets_brackets(executor: Run) -> None:
    """The kubelet gives it without: Spark fails with "Expected hostname or IPv6 IP enclosed in []"."""
    found = spark_arguments(executor(SPARK_EXECUTOR_POD_IP="fd00:10:244::7"))
    assert (found["--hostname"], found["--bind-address"]) == ("[fd00:10:244::7]", "[fd00:10:244::7]")


@pytest.mark.parametrize(
    ("host", "expected"), [("10.0.0.1", "10.0.0.1"), ("fd00:10:77::11", "[fd00:10:77::11]")]
)
def test_an_ipv6_address_of_the_node_gets_brackets(
    executor: Run, tmp_path: Path, host: str, expected: str
) -> None:
    """Beside a shuffle service of its node, an executor is known by the node's address."""
    script = tmp_path / "executor.sh"
    script.write_text(SCRIPT.read_text().replace(contract.HOSTNAME_OPTION, contract.SHUFFLE_HOSTNAME_OPTION))
    variables = {contract.ENV_EXECUTOR_HOST: host, contract.ENV_EXECUTOR_POD_IP: "fd00:10:244::7"}
    found = spark_arguments(executor(script, **variables))
    assert (found["--hostname"], found["--bind-address"]) == (expected, "[fd00:10:244::7]")


def test_the_class_path_of_an_image(executor: Run, tmp_path: Path) -> None:
    """What an image adds by SPARK_EXTRA_CLASSPATH stands behind Spark's jars, as in the stock entrypoint."""
    found = arguments(
        executor(SPARK_EXTRA_CLASSPATH="/opt/hadoop/conf", SPARK_DIST_CLASSPATH="/opt/hadoop/*")
    )
    class_path = found[found.index("-cp") + 1]
    assert class_path == f"/opt/sparkgen/conf:/opt/spark/jars/*:/opt/hadoop/conf:/opt/hadoop/*:{tmp_path}"


@pytest.mark.parametrize(
    ("image", "expected"),
    [(None, "/opt/native:/opt/b"), ("/usr/local/lib", "/opt/native:/opt/b:/usr/local/lib")],
)
def test_native_libraries(executor: Run, image: str | None, expected: str) -> None:
    """spark.executor.extraLibraryPath stands in front of what the image has."""
    done = executor(SPARK_EXECUTOR_LIBRARY_PATH="/opt/native:/opt/b", LD_LIBRARY_PATH=image)
    assert arguments(done)
    assert json.loads(done.stdout)["libraries"] == expected


def test_python_files_of_the_image(executor: Run, tmp_path: Path) -> None:
    """They lie in the working directory, where Python workers look for what Spark sent; nothing else does."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    for name in ("rates.py", "more.py", "types.py"):
        (folder / name).write_text(name)
    assert arguments(executor(SPARKGEN_PYTHON_FILES=f"{folder}/rates.py:{folder}/more.py"))
    assert {file.name for file in tmp_path.glob("*.py")} == {"rates.py", "more.py"}
    missing = executor(SPARKGEN_PYTHON_FILES=f"{folder}/gone.py")
    assert missing.returncode == 1
    assert "a file of deps.pyFiles is not in the image" in missing.stderr


def test_modules_are_opened_for_new_javas(executor: Run) -> None:
    """Java 17 needs what Spark's launcher would have added; an old one is told to ignore it, first of all."""
    found = arguments(executor())
    assert found[0] == "-XX:+IgnoreUnrecognizedVMOptions"
    assert "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED" in found
    assert all(text.startswith("-") for text in found[: found.index("-cp")])


def with_spark(folder: Path, version: str) -> dict[str, str]:
    """A folder of Spark as far as the script looks into it."""
    jar = folder / "spark home" / "jars" / f"spark-core_2.13-{version}.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    return {"SPARK_HOME": str(jar.parents[1])}


@pytest.mark.parametrize(
    ("spark", "modules", "expected"),
    [
        ("4.0.1", "java.base jdk.incubator.vector", True),
        ("4.0.1", "java.base", False),
        ("3.5.8", "java.base jdk.incubator.vector", False),
        ("4.0.1", None, False),
    ],
)
def test_the_vector_module_where_java_has_it(
    executor: Run,
    tmp_path: Path,
    environment: dict[str, str],
    spark: str,
    modules: str | None,
    expected: bool,
) -> None:
    """Spark 4 wants it, and a Java without it would not start: its release file says what it has."""
    if modules is not None:
        Path(environment["JAVA_HOME"], "release").write_text(f'MODULES="{modules}"\n')
    found = arguments(executor(**with_spark(tmp_path, spark)))
    assert ("--add-modules=jdk.incubator.vector" in found) is expected
    assert ("--enable-native-access=ALL-UNNAMED" in found) is spark.startswith("4")


REFLECTION, NETTY = "-Djdk.reflect.useDirectMethodHandle=false", "-Dio.netty."


@pytest.mark.parametrize(
    ("spark", "reflection", "netty"),
    [("3.5.8", True, False), ("4.0.1", True, True), ("4.1.1", True, True), ("4.3.0", False, True)],
)
def test_the_options_are_those_of_the_release(
    executor: Run, tmp_path: Path, spark: str, reflection: bool, netty: bool
) -> None:
    """As JavaModuleOptions of each release has them, and behind them what SparkContext adds."""
    found = arguments(executor(**with_spark(tmp_path, spark)))
    assert (REFLECTION in found) is reflection
    assert any(option.startswith(NETTY) for option in found) is netty
    assert found[found.index("-cp") - 3] == "-Djava.net.preferIPv6Addresses=false"


@pytest.mark.skipif(shutil.which("java") is None, reason="this machine has no Java")
def test_a_real_java_takes_the_options(executor: Run, tmp_path: Path) -> None:
    """With all options of Spark 4 the JVM of this machine comes as far as the missing class."""
    done = executor(JAVA_HOME=None, SPARK_EXECUTOR_MEMORY="64m", **with_spark(tmp_path, "4.0.1"))
    assert "CoarseGrainedExecutorBackend" in done.stderr
    assert "Unrecognized" not in done.stderr
    assert "boot layer" not in done.stderr


def test_a_held_question_is_asked_again_at_once(
    executor: Run, allocator: type[Allocator], pauses: Callable[[], list[str]]
) -> None:
    """After a long poll nothing is lost by pausing: the script asks again at once."""
    allocator.codes[:] = [202, 200]
    allocator.hold = [3.0]
    assert arguments(executor())
    assert pauses() == []


def test_class_path(executor: Run, tmp_path: Path) -> None:
    """Configuration before the document's jars, those before Spark's, as in native Spark."""
    more = {"HADOOP_CONF_DIR": "/h", "SPARK_CLASSPATH": "/mine/*", "SPARK_DIST_CLASSPATH": "/dist/*"}
    found = arguments(executor(**more))
    expected = f"/opt/sparkgen/conf:/h:/mine/*:/opt/spark/jars/*:/dist/*:{tmp_path}"
    assert found[found.index("-cp") + 1] == expected


def with_archive(folder: Path) -> dict[str, str]:
    """An image's archive of classes, as far as the script looks into it."""
    (folder / "classes.jsa").touch()
    (folder / "classes.jsa.classpath").write_text("/opt/spark/jars/a.jar:/opt/spark/jars/b.jar")
    return {"SPARKGEN_CLASS_ARCHIVE": f"{folder}/classes.jsa"}


def test_an_archive_of_classes_has_its_class_path_first(executor: Run, tmp_path: Path) -> None:
    """Java takes it for no other; the document's options come after it, and so win."""
    found = arguments(
        executor(**with_archive(tmp_path), HADOOP_CONF_DIR="/h", SPARK_JAVA_OPT_0="-Xshare:off")
    )
    jars = "/opt/spark/jars/a.jar:/opt/spark/jars/b.jar"
    expected = f"{jars}:/opt/sparkgen/conf:/h:/opt/spark/jars/*:{tmp_path}"
    assert found[found.index("-cp") + 1] == expected
    archive = f"-XX:SharedArchiveFile={tmp_path}/classes.jsa"
    assert found.index(archive) < found.index("-Xshare:off") < found.index("-cp")


@pytest.mark.parametrize("missing", ["classes.jsa", "classes.jsa.classpath"])
def test_an_archive_that_is_not_whole_is_left_alone(executor: Run, tmp_path: Path, missing: str) -> None:
    """Without it, and without a word about it."""
    archive = with_archive(tmp_path)
    (tmp_path / missing).unlink()
    found = arguments(executor(**archive))
    assert found[found.index("-cp") + 1] == f"/opt/sparkgen/conf:/opt/spark/jars/*:{tmp_path}"
    assert "SharedArchiveFile" not in " ".join(found)


def test_the_documents_jars_come_before_an_archive(executor: Run, tmp_path: Path) -> None:
    """What `spark.executor.extraClassPath` names hides classes of Spark's: the archive would not fit."""
    found = arguments(executor(**with_archive(tmp_path), SPARK_CLASSPATH="/mine/*"))
    assert found[found.index("-cp") + 1] == f"/opt/sparkgen/conf:/mine/*:/opt/spark/jars/*:{tmp_path}"
    assert "SharedArchiveFile" not in " ".join(found)


def test_the_jars_that_a_start_needs_come_first(executor: Run, tmp_path: Path) -> None:
    """Before the folder's others, and after the configuration; a path with a blank stays one."""
    spark = with_spark(tmp_path, "4.0.1")
    (tmp_path / "spark home" / "jars" / "netty-buffer-4.1.jar").touch()
    (tmp_path / "spark home" / "jars" / "zstd.jar").touch()
    jars = f"{tmp_path}/spark home/jars"
    expected = (
        f"/opt/sparkgen/conf:{jars}/spark-core_2.13-4.0.1.jar:{jars}/netty-buffer-4.1.jar:{jars}/*:{tmp_path}"
    )
    found = arguments(executor(**spark))
    assert found[found.index("-cp") + 1] == expected


def test_java_of_the_path(executor: Run, environment: dict[str, str]) -> None:
    """Without JAVA_HOME the java of the PATH runs."""
    path = f"{environment['JAVA_HOME']}/bin:{os.environ['PATH']}"
    assert arguments(executor(JAVA_HOME=None, PATH=path))


def test_numbered_options_are_single_arguments(executor: Run) -> None:
    """SPARK_JAVA_OPT_0, 1, ... are one argument each, blanks and all, up to the first gap."""
    more = {"SPARK_JAVA_OPT_0": "-Da=b c", "SPARK_JAVA_OPT_1": "-Dd=$HOME*", "SPARK_JAVA_OPT_3": "-Dlost=1"}
    assert options(executor(**more)) == ["-Da=b c", "-Dd=$HOME*"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-XX:+UseG1GC", ["-XX:+UseG1GC"]),
        ("  -Da=1\n  -Db=2  ", ["-Da=1", "-Db=2"]),
        ("-Da='b c' \"-Dd=e f\"", ["-Da=b c", "-Dd=e f"]),
        ("-Da=b\\ c", ["-Da=b c"]),
        (
            "-Da=$(touch x) -Db=`touch y` -Dc=$HOME -Dd=*",
            ["-Da=$(touch", "x)", "-Db=`touch", "y`", "-Dc=$HOME", "-Dd=*"],
        ),
        ("-Xlog:gc:/logs/{{APP_ID}}/{{EXECUTOR_ID}}.log", ["-Xlog:gc:/logs/pi-12345678-abcde/7.log"]),
        ("-Da=%s -Db=\\\\", ["-Da=%s", "-Db=\\"]),
        ("'' -Da=1", ["-Da=1"]),
        ("   ", []),
    ],
)
def test_java_options_are_split_as_a_shell_would(executor: Run, text: str, expected: list[str]) -> None:
    """Quotes group, nothing is expanded or run, and Spark's two placeholders are filled in."""
    assert options(executor(SPARKGEN_EXECUTOR_JAVA_OPTIONS=text)) == expected


def test_an_unclosed_quote_is_an_error(executor: Run) -> None:
    """Options that cannot be split stop the executor; they are not silently left out."""
    done = executor(SPARKGEN_EXECUTOR_JAVA_OPTIONS="-Da='b")
    assert (done.returncode, done.stdout) == (1, "")
    assert "quote that is not closed: -Da='b" in done.stderr


def test_an_executor_that_is_not_wanted_leaves(executor: Run, allocator: type[Allocator]) -> None:
    """410 is a good end: nothing failed, and no java was started."""
    allocator.codes[:] = [202, 410]
    done = executor()
    assert (done.returncode, done.stdout) == (0, "")
    assert "no longer wanted" in done.stderr


@pytest.mark.parametrize("code", [404, 500])
def test_other_answers_are_none(executor: Run, allocator: type[Allocator], code: int) -> None:
    """An allocator that restarts may say strange things for a moment."""
    allocator.codes[:] = [code, 200]
    assert arguments(executor())


def test_an_address_of_version_6(executor: Run) -> None:
    """Brackets belong to the URL, not to the address."""
    try:
        server = Server6(("::1", 0), type("Handler", (Allocator,), {"codes": [200], "asked": [], "hold": []}))
    except OSError:
        pytest.skip("this machine has no IPv6")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        assert arguments(executor(SPARKGEN_START_URL=f"http://[::1]:{server.server_address[1]}/start"))
    finally:
        server.shutdown()
        server.server_close()


def test_nobody_answers(executor: Run) -> None:
    """Without an allocator the driver is gone: the executor ends in bounded time, with a reason."""
    started = time.monotonic()
    done = executor(
        SPARKGEN_START_URL="http://127.0.0.1:1/v1/executors/7/start", SPARKGEN_START_TIMEOUT_SECONDS="1"
    )
    assert done.returncode == 1
    assert time.monotonic() - started < 15
    assert "no answer from the allocator at 127.0.0.1:1 for 1 s" in done.stderr


@pytest.mark.parametrize("seconds", ["x[$(touch evaluated)]", "-1", "1e9", "08", "1 2"])
def test_a_time_that_is_no_number_is_refused(executor: Run, tmp_path: Path, seconds: str) -> None:
    """Arithmetic would evaluate it, and run commands in it."""
    done = executor(SPARKGEN_START_TIMEOUT_SECONDS=seconds)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "sparkgen: SPARKGEN_START_TIMEOUT_SECONDS must be a number of seconds\n"
    assert not (tmp_path / "evaluated").exists()


def test_waiting_may_take_long(executor: Run, allocator: type[Allocator]) -> None:
    """The bound is on silence, not on waiting: every 202 begins it again."""
    allocator.codes[:] = [202] * 3 + [200]  # two seconds lie between the first and the third
    assert arguments(executor(SPARKGEN_START_TIMEOUT_SECONDS="1"))


def test_a_waiting_executor_can_be_ended(
    environment: dict[str, str], tmp_path: Path, allocator: type[Allocator]
) -> None:
    """SIGTERM ends the wait at once: as process 1, bash would ignore it and use up the whole grace period."""
    allocator.codes[:] = [202]
    url = f"http://127.0.0.1:{allocator.port}/v1/executors/7/start"  # type: ignore[attr-defined]
    env = {**environment, "SPARKGEN_START_URL": url}
    with subprocess.Popen([BASH or "bash", str(SCRIPT)], env=env, cwd=tmp_path) as process:
        while not allocator.asked:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        # An exit code of its own, not death by the signal: there is a handler.
        assert process.wait(timeout=10) == 143


def test_java_takes_the_place_of_the_shell(
    environment: dict[str, str], tmp_path: Path, allocator: type[Allocator]
) -> None:
    """Signals reach java: no shell stays between it and the kubelet (tini does, where the image has it)."""
    url = f"http://127.0.0.1:{allocator.port}/v1/executors/7/start"  # type: ignore[attr-defined]
    env = {**environment, "SPARKGEN_START_URL": url}
    command = [BASH or "bash", str(SCRIPT)]
    with subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        output, _ = process.communicate(timeout=60)
        expected = process.pid
    assert Path("/usr/bin/tini").exists() or json.loads(output)["pid"] == expected


def test_shellcheck_finds_nothing() -> None:
    """The script is clean."""
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run([shellcheck, SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
