#!/bin/sh
# The runtime's commands are the runtime's; all else is the Spark image's own entrypoint's.
set -e

scheduler=/opt/sparkgen/lib/scheduler.jar
properties=/opt/sparkgen/session/spark.properties

# A driver of sparkgen begins with the archive of classes (class-archive.sh), if its document puts nothing before
# Spark's jars: Java takes the archive only where the class path begins as it did when the archive was made.
if [ "$1" = driver ] && [ -r "$SPARKGEN_CLASS_ARCHIVE" ] \
  && grep -qxE "spark\.driver\.extraClassPath[ =]+$scheduler" "$properties" 2>/dev/null; then
  shift
  set -- driver --driver-class-path "$(cat "$SPARKGEN_CLASS_ARCHIVE.classpath"):$scheduler" "$@"
  # Before the document's options, which therefore win. Where the archive does not fit, Java starts without it.
  export SPARK_SUBMIT_OPTS="-XX:SharedArchiveFile=$SPARKGEN_CLASS_ARCHIVE -Xlog:cds*=off -Xlog:class+path=off $SPARK_SUBMIT_OPTS"
fi

case "$1" in
  install | allocator | janitor | history | version) exec /opt/sparkgen-runtime/sparkgen-runtime "$@" ;;
  *) exec /opt/entrypoint.sh "$@" ;;
esac
