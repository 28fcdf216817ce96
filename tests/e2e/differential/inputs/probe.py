"""Print what the driver and an executor see around them as one line of JSON, and end as told.

    probe.py [conf:NAME=VALUE | add-file:URL | add-archive:URL | add-python:URL | profile:MIB]... [WORD]

`profile` asks for an executor with another memory. The last word says how it ends: stop (the default), open
(the context stays), raise, exit=CODE, thread (another thread goes on when main returns), memory (the heap
fills up), signal=NAME (to this process), jvm-signal=NAME, lose=CODE (each attempt of a task ends its
executor).
"""

import hashlib
import importlib
import json
import locale
import os
import signal
import sys
import threading
import time
from pathlib import Path

from pyspark import SparkFiles
from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder
from pyspark.sql import SparkSession

LARGE = 1 << 20
ADDS = {"add-file": "addFile", "add-archive": "addArchive", "add-python": "addPyFile"}
MODULES = ("helper", "zipped", "packed.inner", "egged", "listed")
PART = 4000
"""Characters of a line: a container's log breaks lines of more than 16 KiB."""
PATIENCE = 20.0
BETWEEN = ("PYSPARK_GATEWAY_", "PYTHON_WORKER_FACTORY_")
"""Variables between Python and its JVM: numbers by chance."""


def main(words):
    """Do what the module says."""
    builder = SparkSession.builder
    for word in words:
        if word.startswith("conf:"):
            builder = builder.config(*word.removeprefix("conf:").split("=", 1))
    context = builder.getOrCreate().sparkContext
    jvm = context._jvm.sparkgen.probe.Probe
    executors = context.parallelize([0], 1)
    for word in words:
        kind, _, value = word.partition(":")
        if kind in ADDS:
            getattr(context, ADDS[kind])(value)
        if kind == "profile":
            memory = ExecutorResourceRequests().cores(1).memory(f"{value}m")
            executors = executors.withResources(ResourceProfileBuilder().require(memory).build)
    report = {
        "driver": {"jvm": json.loads(jvm.json()), "python": facts(), "arguments": words},
        "executor": {
            "jvm": json.loads(jvm.jsonOfAnExecutor(context._jsc)),
            "python": executors.map(lambda _: facts()).first(),
        },
    }
    text = json.dumps(report)
    for start in range(0, len(text), PART):
        print("PROBE " + text[start : start + PART], flush=True)
    end(context, words[-1] if words and ":" not in words[-1] else "stop")


def facts():
    """What this process sees."""
    return {
        "program": sys.executable,
        "version": sys.version.split()[0],
        "path": sys.path,
        "environment": {name: text for name, text in os.environ.items() if not name.startswith(BETWEEN)},
        "directory": str(Path.cwd()),
        "files": files(Path.cwd()),
        "sparkFiles": files(Path(SparkFiles.getRootDirectory())),
        "modules": {name: value_of(name) for name in MODULES},
        "encodings": [sys.getfilesystemencoding(), locale.getpreferredencoding(), sys.stdout.encoding],
        "timeZone": time.tzname[0],
        "umask": umask(),
    }


def files(folder):
    """Paths below a folder with digests of their bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            data = path.read_bytes() if path.stat().st_size <= LARGE else None
            told = hashlib.sha256(data).hexdigest()[:12] if data is not None else "large"
            found[str(path.relative_to(folder))] = told
    return found


def value_of(name):
    """What a module says, or why there is none."""
    try:
        return importlib.import_module(name).VALUE
    except (ImportError, AttributeError, ValueError) as error:
        return type(error).__name__


def umask():
    """The file mode mask."""
    mask = os.umask(0o022)
    os.umask(mask)
    return oct(mask)


def end(context, word):
    """End as the word says."""
    kind, _, value = word.partition("=")
    ends = context._jvm.sparkgen.probe.Ends
    if kind == "stop":
        context.stop()
    elif kind == "raise":
        raise RuntimeError("the probe raises")
    elif kind == "exit":
        sys.exit(int(value))
    elif kind == "thread":
        threading.Thread(target=look_after_main, args=[context]).start()
    elif kind == "memory":
        ends.fill()
    elif kind == "signal":
        os.kill(os.getpid(), getattr(signal, f"SIG{value}"))
        time.sleep(PATIENCE)
    elif kind == "jvm-signal":
        ends.signal(value)
    elif kind == "lose":
        ends.lose(context._jsc, int(value))


def look_after_main(context):
    """Print whether the context is stopped once `main` has returned."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and not context._jsc.sc().isStopped():
        time.sleep(0.05)
    print("AFTER " + ("stopped" if context._jsc.sc().isStopped() else "open"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
