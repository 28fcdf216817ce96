#!/bin/bash
# The entrypoint contract of the stock Spark images: `driver ARGS` submits in client mode inside this pod,
# `executor` starts the executor that the environment describes, and anything else is run as it is.
set -e

# A random user id (OpenShift) has no name; Hadoop's login fails without one.
if ! getent passwd "$(id -u)" >/dev/null && [ -w /etc/passwd ]; then
  echo "spark:x:$(id -u):$(id -g):anonymous:$SPARK_HOME:/bin/false" >>/etc/passwd
fi

classpath="$SPARK_CLASSPATH:$SPARK_HOME/jars/*"
[ -z "$SPARK_EXTRA_CLASSPATH" ] || classpath="$classpath:$SPARK_EXTRA_CLASSPATH"
[ -z "$HADOOP_CONF_DIR" ] || classpath="$HADOOP_CONF_DIR:$classpath"
if [ -n "$SPARK_CONF_DIR" ]; then
  classpath="$SPARK_CONF_DIR:$classpath"
else
  classpath="$SPARK_HOME/conf:$classpath"
fi
classpath="$classpath:$PWD"

# SPARK_JAVA_OPT_0, SPARK_JAVA_OPT_1, ...: one option each, in the order of their numbers.
java_options=()
while IFS= read -r name; do
  java_options+=("${!name}")
done < <(compgen -e SPARK_JAVA_OPT_ | sort -t_ -k4n)

case "$1" in
  driver)
    shift
    exec tini -s -- "$SPARK_HOME/bin/spark-submit" \
      --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS" \
      --conf "spark.executorEnv.SPARK_DRIVER_POD_IP=$SPARK_DRIVER_BIND_ADDRESS" \
      --deploy-mode client "$@"
    ;;
  executor)
    exec tini -s -- "$JAVA_HOME/bin/java" "${java_options[@]}" \
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
