#!/usr/bin/env bash
# Makes a class data sharing archive of this image's Spark. A JVM that maps the archive need not read, verify and
# link about 12,000 classes again, which is a large part of the start of a driver or an executor.
#
#   class-archive.sh FILE     writes the archive to FILE, and a class path to FILE.classpath
#
# A JVM can use the archive only if its own class path starts with that class path.
# Java uses an archive only with the same jars and the same Java that made it, and starts without it otherwise.
# So make it in the image, after the last change to $SPARK_HOME/jars.
set -euo pipefail

archive="$1"
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# A fixed order: a wildcard gives the order of the file system, which can differ on another node.
class_path="$(printf '%s\n' "$SPARK_HOME"/jars/*.jar | LC_ALL=C sort | paste -sd:)"

# With the archive, the jars come before the directories with settings: no jar may hide a settings file.
python3 - "$SPARK_HOME"/jars/*.jar <<'PYTHON'
import re, sys, zipfile
settings = re.compile(r"(log4j2?(-test)?\.(properties|ya?ml|jsn|json|xml)|[a-z]+-site\.xml|metrics\.properties|spark-.*\.conf|fairscheduler\.xml)$")
hiding = [f"{jar}: {name}" for jar in sys.argv[1:] for name in zipfile.ZipFile(jar).namelist() if settings.match(name)]
if hiding:
    sys.exit("class-archive.sh: these files in Spark's jars would hide an application's settings:\n" + "\n".join(hiding))
PYTHON

# To find out which classes are used, run an application that uses a little of everything, with one executor.
list="-XX:DumpLoadedClassList=$work"
cd "$work"
export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=localhost SPARK_LOCAL_DIRS="$work" SPARK_WORKER_DIR="$work/worker"
scala="$(basename "$SPARK_HOME"/jars/scala-library-*.jar)" && scala="${scala#scala-library-}"
export SPARK_SCALA_VERSION="${scala%.*.jar}"
"$SPARK_HOME/bin/spark-submit" --master 'local-cluster[1,2,1024]' --driver-memory 1g --driver-java-options "$list/driver.list" \
  --conf "spark.executor.extraJavaOptions=$list/executor-{{EXECUTOR_ID}}.list" --conf spark.executor.memory=1024m \
  --conf spark.authenticate=true --conf spark.authenticate.secret=of-this-run-alone \
  --conf spark.dynamicAllocation.enabled=true --conf spark.dynamicAllocation.shuffleTracking.enabled=true \
  --conf spark.dynamicAllocation.maxExecutors=1 --conf spark.ui.port=0 \
  --conf "spark.sql.warehouse.dir=$work/warehouse" --conf spark.log.level=WARN \
  "$(dirname "$0")/class-archive.py" "$work" >"$work/log" 2>&1 \
  || { tail -n 40 "$work/log" >&2; echo "class-archive.sh: Spark failed; the end of its log is above" >&2; exit 1; }
ls "$work"/driver.list "$work"/executor-*.list >/dev/null # fails unless both the driver and an executor have run

awk '!seen[$0]++' "$work"/*.list >"$work/all"
mkdir -p "$(dirname "$archive")"
rm -f "$archive"
"$java" -Xshare:dump -XX:SharedClassListFile="$work/all" -XX:SharedArchiveFile="$archive" -cp "$class_path" >"$work/log" 2>&1 \
  || { tail -n 20 "$work/log" >&2; echo "class-archive.sh: Java could not make the archive; the end of its log is above" >&2; exit 1; }
# With -Xshare:on, Java exits with an error if it cannot use the archive.
"$java" -Xshare:on -XX:SharedArchiveFile="$archive" -cp "$class_path" org.apache.spark.launcher.Main >/dev/null 2>"$work/log" \
  || grep -q 'launcher.Main' "$work/log" || { cat "$work/log" >&2; exit 1; }
printf '%s' "$class_path" >"$archive.classpath"
chmod 644 "$archive" "$archive.classpath"
echo "class-archive.sh: $(grep -c . "$work/all") classes in $archive"
