#!/bin/sh
# Runs the runtime's commands with sparkgen-runtime, and everything else with the Spark image's own entrypoint.
set -e

scheduler=/opt/sparkgen/lib/scheduler.jar
properties=/opt/sparkgen/session/spark.properties

# A driver of sparkgen uses the archive of classes (class-archive.sh), unless its document puts something before
# Spark's jars: Java uses the archive only if the class path starts as it did when the archive was made.
if [ "$1" = driver ] && [ -r "$SPARKGEN_CLASS_ARCHIVE" ] \
  && grep -qxE "spark\.driver\.extraClassPath[ =]+$scheduler" "$properties" 2>/dev/null; then
  shift
  set -- driver --driver-class-path "$(cat "$SPARKGEN_CLASS_ARCHIVE.classpath"):$scheduler" "$@"
  # The document's options come later, and so override these. If Java cannot use the archive, it starts without it.
  export SPARK_SUBMIT_OPTS="-XX:SharedArchiveFile=$SPARKGEN_CLASS_ARCHIVE -Xlog:cds*=off -Xlog:class+path=off $SPARK_SUBMIT_OPTS"
fi

case "$1" in
  concurrency | install | fetch | allocator | janitor | history | registry-gc | version)
    exec /opt/sparkgen-runtime/sparkgen-runtime "$@"
    ;;
  *) exec /opt/entrypoint.sh "$@" ;;
esac
