#!/usr/bin/env bash
# Makes a class data sharing archive of this image's Spark: JVMs that map it need not read, check and link
# some twelve thousand classes again, which is a good part of the start of a driver or an executor.
#
#   class-archive.sh FILE     writes FILE, and FILE.classpath: the class path that a JVM must begin with to use it
#
# Java takes an archive only for the very jars and the very Java that it was made with, and does without it
# otherwise: so it is made in the image, after the last change of $SPARK_HOME/jars.
set -euo pipefail

archive="$1"
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# A fixed order: a wildcard means the order of the file system, which another node's need not be.
class_path="$(printf '%s\n' "$SPARK_HOME"/jars/*.jar | LC_ALL=C sort | paste -sd:)"

# With the archive, the jars come before the folders of settings. Nothing may hide those.
python3 - "$SPARK_HOME"/jars/*.jar <<'PYTHON'
import re, sys, zipfile
settings = re.compile(r"(log4j2?(-test)?\.(properties|ya?ml|jsn|json|xml)|[a-z]+-site\.xml|metrics\.properties|spark-.*\.conf|fairscheduler\.xml)$")
hiding = [f"{jar}: {name}" for jar in sys.argv[1:] for name in zipfile.ZipFile(jar).namelist() if settings.match(name)]
if hiding:
    sys.exit("class-archive.sh: these would come before the settings of an application:\n" + "\n".join(hiding))
PYTHON

# What is used is seen from an application that does a little of everything, with an executor of its own.
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
  || { tail -n 40 "$work/log" >&2; echo "class-archive.sh: Spark did not run here; see above" >&2; exit 1; }
ls "$work"/driver.list "$work"/executor-*.list >/dev/null # both have run, or this ends here

awk '!seen[$0]++' "$work"/*.list >"$work/all"
mkdir -p "$(dirname "$archive")"
rm -f "$archive"
"$java" -Xshare:dump -XX:SharedClassListFile="$work/all" -XX:SharedArchiveFile="$archive" -cp "$class_path" >"$work/log" 2>&1 \
  || { tail -n 20 "$work/log" >&2; echo "class-archive.sh: this Java made no archive; see above" >&2; exit 1; }
# -Xshare:on ends with an error where the archive does not fit.
"$java" -Xshare:on -XX:SharedArchiveFile="$archive" -cp "$class_path" org.apache.spark.launcher.Main >/dev/null 2>"$work/log" \
  || grep -q 'launcher.Main' "$work/log" || { cat "$work/log" >&2; exit 1; }
printf '%s' "$class_path" >"$archive.classpath"
chmod 644 "$archive" "$archive.classpath"
echo "class-archive.sh: $(grep -c . "$work/all") classes in $archive"
