#!/bin/bash
# The entrypoint contract of the stock Spark images: `driver ARGS` calls spark-submit in client mode in this pod,
# `executor` starts the executor that the environment variables describe, and any other command runs unchanged.
set -eo pipefail

if [ -z "$JAVA_HOME" ]; then
  JAVA_HOME="$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p')"
fi
if [ -n "$HADOOP_HOME" ] && [ -z "$SPARK_DIST_CLASSPATH" ]; then
  SPARK_DIST_CLASSPATH="$("$HADOOP_HOME/bin/hadoop" classpath)"
  export SPARK_DIST_CLASSPATH
fi

# Each line puts its entries in front of the class path so far; the working directory comes last.
classpath="$SPARK_CLASSPATH:$SPARK_HOME/jars/*${SPARK_EXTRA_CLASSPATH:+:$SPARK_EXTRA_CLASSPATH}"
classpath="${HADOOP_CONF_DIR+$HADOOP_CONF_DIR:}$classpath"
classpath="${SPARK_CONF_DIR-$SPARK_HOME/conf}:$classpath:$PWD"

# SPARK_JAVA_OPT_0, SPARK_JAVA_OPT_1, ... have one option each; the JVM gets them in the order of the numbers.
java_options=()
while IFS= read -r name; do
  java_options+=("${!name}")
done < <(compgen -e SPARK_JAVA_OPT_ | sort -t_ -k4n)

# A random user ID (OpenShift) has no user name, and Hadoop's login fails without one: nss_wrapper adds a name.
name_this_user() {
  local library
  getent passwd "$(id -u)" >/dev/null && return
  library="$(find /usr/lib /lib -name libnss_wrapper.so -print -quit)"
  [ -n "$library" ] || return 0
  NSS_WRAPPER_PASSWD="$(mktemp)"
  NSS_WRAPPER_GROUP="$(mktemp)"
  echo "spark:x:$(id -u):$(id -g):${SPARK_USER_NAME:-anonymous}:$SPARK_HOME:/bin/false" >"$NSS_WRAPPER_PASSWD"
  echo "spark:x:$(id -g):" >"$NSS_WRAPPER_GROUP"
  export LD_PRELOAD="$library" NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP
}

# Root switches to the user spark; tini reaps zombie processes.
run_as_spark() {
  local switch=()
  name_this_user
  [ "$(id -u)" != 0 ] || switch=(gosu spark)
  exec "${switch[@]}" /usr/bin/tini -s -- "$@"
}

case "$1" in
  driver)
    shift
    run_as_spark "$SPARK_HOME/bin/spark-submit" \
      --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS" \
      --conf "spark.executorEnv.SPARK_DRIVER_POD_IP=$SPARK_DRIVER_BIND_ADDRESS" \
      --deploy-mode client "$@"
    ;;
  executor)
    run_as_spark "$JAVA_HOME/bin/java" "${java_options[@]}" \
      "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
      -cp "$classpath:$SPARK_DIST_CLASSPATH" \
      org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
      --driver-url "$SPARK_DRIVER_URL" \
      --executor-id "$SPARK_EXECUTOR_ID" \
      --cores "$SPARK_EXECUTOR_CORES" \
      --app-id "$SPARK_APPLICATION_ID" \
      --hostname "$SPARK_EXECUTOR_POD_IP" \
      --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" \
      --podName "$SPARK_EXECUTOR_POD_NAME"
    ;;
  *)
    exec "$@"
    ;;
esac
