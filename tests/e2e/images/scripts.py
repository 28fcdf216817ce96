"""What the containers of the contract's test run: small shell scripts that print facts as `name=value`."""

from __future__ import annotations

CALLED = r"""#!/bin/bash
# Stands in for java, spark-submit and hadoop.
case "$(basename "$0") $*" in
  "hadoop classpath") echo /from/hadoop; exit ;;
  "java -XshowSettings"*) echo "    java.home = /fake" >&2; exit ;;
esac
echo "program=$0"
echo "user=$(id -un)"
echo "id=$(id -u)"
echo "first process=$(cat /proc/1/comm)"
echo "parent=$PPID"
for argument in "$@"; do echo "argument=$argument"; done
"""

FACTS = r"""#!/bin/bash
echo "first process=$(cat /proc/1/comm)"
echo "passwd=$(getent passwd 185)"
echo "group=$(getent group 185)"
echo "user=$(id -u):$(id -g)"
echo "directory=$PWD"
for name in SPARK_HOME JAVA_HOME HOME SPARK_CONF_DIR SPARK_DIST_CLASSPATH PYTHONPATH; do
  echo "\$$name=${!name-unset}"
done
for name in java python3 tini gosu ps wget kinit netstat; do echo "command $name=$(command -v "$name")"; done
setting() { "$JAVA_HOME/bin/java" -XshowSettings:properties -version 2>&1 | sed -n "s/^ *$1 = //p"; }
echo "java version=$(setting 'java\.specification\.version')"
echo "java encoding=$(setting 'sun\.jnu\.encoding')"
echo "python encoding=$(python3 -c 'import sys; print(sys.getfilesystemencoding())')"
echo "release=$(head -n 1 /opt/spark/RELEASE)"
for path in "$@"; do
  found=($path)
  what=missing
  [ ! -f "$found" ] || what=file
  [ ! -d "$found" ] || what=directory
  [ "$what" != file ] || [ ! -x "$found" ] || what=program
  [ ! -w "$found" ] || what="writable $what"
  echo "$path=$what"
done
"""

DECOMMISSION = r"""#!/bin/bash
# A copy of bash named java plays the executor: told by SIGPWR, it takes a second to end.
cp "$(command -v bash)" /tmp/java
executor='trap "sleep 1; echo event=ended; exit" PWR; echo event=started; while true; do sleep 0.1; done'
/tmp/java -c "$executor" org.apache.spark.executor.CoarseGrainedExecutorBackend &
sleep 0.5
/opt/decom.sh >/dev/null 2>&1
echo event=returned
"""

FILES = {
    "bin/java": CALLED,
    "bin/spark-submit": CALLED,
    "bin/hadoop": CALLED,
    "facts.sh": FACTS,
    "decommission.sh": DECOMMISSION,
}
"""The files of /fake in every container."""


def facts(log: str) -> dict[str, str]:
    """The facts of a log; of a name that comes twice, the last."""
    return dict(line.split("=", 1) for line in log.splitlines() if "=" in line)


def values(log: str, name: str) -> list[str]:
    """All values of one name, in order."""
    return [line.removeprefix(f"{name}=") for line in log.splitlines() if line.startswith(f"{name}=")]
