#!/usr/bin/env bash
# Starts one Spark executor when the allocator says so. Contract version 1 (docs/design/contract.md).
#
# An executor that reaches the driver before its endpoint exists fails at once, and one whose driver is
# gone must not stay: so it asks the allocator first, and leaves when nobody has answered for a minute.
set -euo pipefail
trap 'exit 143' TERM # process 1 is deaf to signals that it has no handler for

fail() {
  echo "sparkgen: $1" >&2
  exit 1
}

# Spark wants brackets around an IPv6 address (Utils.checkHost), which the kubelet's do not have. Its own backend
# for Kubernetes adds them.
url_host() {
  if [[ "$1" == *:* ]]; then echo "[$1]"; else echo "$1"; fi
}

# What Spark needs on Java 17 and later (org.apache.spark.launcher.JavaModuleOptions); older JVMs ignore it.
options=(-XX:+IgnoreUnrecognizedVMOptions)
for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util \
    java.util.concurrent java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs \
    sun.security.action sun.util.calendar; do
  options+=("--add-opens=java.base/$package=ALL-UNNAMED")
done
options+=(--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED)

# Whether Spark is of a release that matches a pattern.
is_release() {
  compgen -G "$SPARK_HOME/jars/spark-core_*-$1.*.jar" >/dev/null
}

java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
if is_release '3' || is_release '4.[01]'; then
  options+=(-Djdk.reflect.useDirectMethodHandle=false)
fi
if is_release '[4-9]'; then
  options+=(-Dio.netty.tryReflectionSetAccessible=true)
  options+=(-Dio.netty.allocator.type=pooled -Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE)
  options+=(--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED)
  # A module that this Java has not would stop it, whatever it is told to ignore: so only where it is listed.
  java_path="$(readlink -f "$(command -v "$java")" || true)"
  if grep -qs 'jdk\.incubator\.vector' "${java_path%/bin/java}/release"; then
    options+=(--add-modules=jdk.incubator.vector)
  fi
fi
# As SparkContext adds it (supplementJavaIPv6Options). The driver's own value, if it is another, comes later.
options+=(-Djava.net.preferIPv6Addresses=false)

# An image may have an archive of Spark's classes (images/spark-with-runtime), which Java takes only where the class
# path begins as it did when the archive was made: so not where the document puts something before Spark's jars.
archive="${SPARKGEN_CLASS_ARCHIVE:-}"
if [[ -n "${SPARK_CLASSPATH:-}" || ! -r "$archive" || ! -r "$archive.classpath" ]]; then
  archive=""
else
  # Where it does not fit after all, Java starts without it. Of that it need not speak in each executor's log.
  options+=("-XX:SharedArchiveFile=$archive" '-Xlog:cds*=off' '-Xlog:class+path=off')
fi

index=0
while name="SPARK_JAVA_OPT_$index" && [[ -n "${!name+set}" ]]; do
  options+=("${!name}")
  index=$((index + 1))
done
if [[ -n "${SPARKGEN_EXECUTOR_JAVA_OPTIONS:-}" ]]; then
  # xargs reads quotes as a shell does, and expands nothing.
  words="$(printf '%s' "$SPARKGEN_EXECUTOR_JAVA_OPTIONS" | xargs -r -n 1 printf '%s\n')" \
    || fail "the executor's Java options have a quote that is not closed: $SPARKGEN_EXECUTOR_JAVA_OPTIONS"
  while IFS= read -r option; do
    option="${option//'{{APP_ID}}'/$SPARK_APPLICATION_ID}"
    [[ -z "$option" ]] || options+=("${option//'{{EXECUTOR_ID}}'/$SPARK_EXECUTOR_ID}")
  done <<<"$words"
fi

# As Spark's own executors have it since 4.3, in front of what the image has.
if [[ -n "${SPARK_EXECUTOR_LIBRARY_PATH:-}" ]]; then
  export LD_LIBRARY_PATH="$SPARK_EXECUTOR_LIBRARY_PATH${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi

# Spark sends executors no Python file of the image: they are put where it puts those that it sends, which is the
# working directory, so that each is found by its name alone, and nothing else of its folder.
if [[ -n "${SPARKGEN_PYTHON_FILES:-}" ]]; then
  IFS=: read -r -a files <<<"$SPARKGEN_PYTHON_FILES"
  cp -- "${files[@]}" . || fail "a file of deps.pyFiles is not in the image, or $PWD cannot be written to"
fi

class_path="${archive:+$(<"$archive.classpath"):}"
class_path+="$SPARK_CONF_DIR${HADOOP_CONF_DIR:+:$HADOOP_CONF_DIR}${SPARK_CLASSPATH:+:$SPARK_CLASSPATH}"
# A class is looked for in one jar after another: those that every executor begins with come first, which saves
# a tenth of its start. The order of a folder's jars means nothing to Spark: it takes the file system's.
for name in spark-core_ spark-config_ spark-common-utils_ spark-network-common_ scala-library- log4j-core- \
    log4j-api- log4j-1.2-api- hadoop-client-runtime- hadoop-client-api- netty-common- netty-transport-4 \
    netty-buffer- jackson-databind- jackson-core-2; do
  for jar in "$SPARK_HOME/jars/$name"*.jar; do
    [[ ! -e "$jar" ]] || class_path+=":$jar"
  done
done
class_path+=":$SPARK_HOME/jars/*${SPARK_EXTRA_CLASSPATH:+:$SPARK_EXTRA_CLASSPATH}${SPARK_DIST_CLASSPATH:+:$SPARK_DIST_CLASSPATH}:$PWD"

# As the stock entrypoint does it: somebody must reap what Python workers leave behind.
init=()
if [[ -x /usr/bin/tini ]]; then
  init=(/usr/bin/tini -s --)
fi

# All is prepared: the word is the last thing to wait for.
host_and_port="${SPARKGEN_START_URL#http://}"
path="/${host_and_port#*/}"
host_and_port="${host_and_port%%/*}"
host="${host_and_port%:*}" host="${host#[}" host="${host%]}"
patience="${SPARKGEN_START_TIMEOUT_SECONDS:-60}"
# Arithmetic would evaluate other text, and run commands in it.
[[ "$patience" =~ ^(0|[1-9][0-9]{0,5})$ ]] || fail "SPARKGEN_START_TIMEOUT_SECONDS must be a number of seconds"
last_answer=$SECONDS

ask() {
  local status
  exec 3<>"/dev/tcp/$host/${host_and_port##*:}" || return 1
  printf 'GET %s HTTP/1.0\r\nHost: %s\r\n\r\n' "$path" "$host_and_port" >&3
  IFS=' ' read -r -t 10 _ status _ <&3 || status=0
  exec 3>&-
  echo "$status"
}

while true; do
  asked=$SECONDS
  case "$(ask 2>/dev/null || echo 0)" in
    200) break ;;
    202) last_answer=$SECONDS ;;
    410) echo "sparkgen: this executor is no longer wanted" >&2; exit 0 ;;
  esac
  if (( SECONDS - last_answer > patience )); then
    fail "no answer from the allocator at $host_and_port for $patience s; the driver is gone"
  fi
  # The allocator holds the question while it can; an earlier answer means: not now.
  if (( SECONDS - asked < 2 )); then
    sleep 1
  fi
done

exec "${init[@]}" "$java" "${options[@]}" \
  "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" -cp "$class_path" \
  org.apache.spark.executor.CoarseGrainedExecutorBackend \
  --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" \
  --app-id "$SPARK_APPLICATION_ID" --hostname "$(url_host "$SPARK_EXECUTOR_POD_IP")" \
  --bind-address "$(url_host "$SPARK_EXECUTOR_POD_IP")" \
  --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID"
