"""Check that a run can start: its files are there, are JSON, and are in the contract of the runtime image.

Run by `helm test` (templates/tests/run.yaml) in the runtime image, with the standard library alone.
Arguments: the contract's version, the folders of the run's configuration, of the executor's template and of
the tuning; then the command of the runtime, if a ConfigMap has it.
"""

import json
import subprocess
import sys
from pathlib import Path


def main(contract, conf, executor, tuning, *program):
    """End with a message about the first thing that is wrong."""
    version = subprocess.run(
        [*(program or ["sparkgen-runtime"]), "version"], capture_output=True, text=True, check=True
    ).stdout
    if f"(contract {contract})" not in version:
        raise SystemExit(
            f"error: the chart writes contract {contract}, and the runtime image is {version.strip()}"
        )
    template = json.loads((Path(executor) / "executor.json").read_text(encoding="utf-8"))
    bounds = json.loads((Path(tuning) / "tuning.json").read_text(encoding="utf-8"))
    if bounds["version"] != int(contract) or template["kind"] != "PodTemplate":
        raise SystemExit("error: the run's files are not those of this chart")
    lines = (Path(conf) / "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    if not any(line.startswith("spark.master sparkgen://") for line in lines):
        raise SystemExit("error: spark-defaults.conf names no allocator")
    print(f"ok: {version.strip()}, executors {json.dumps(bounds['executors'])}")


if __name__ == "__main__":
    main(*sys.argv[1:])
