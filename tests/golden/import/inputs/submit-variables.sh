#!/usr/bin/env bash
IMAGE="registry.example.com/etl:2.0.1"
MEMORY=4g
DAY=$(date +%F)
SPARK_OPTS="--conf spark.a=b --conf spark.c=d"
STAGE=prod nohup "$SPARK_HOME/bin/spark-submit" $SPARK_OPTS \
  --master "k8s://$API" --conf spark.kubernetes.container.image="$IMAGE" \
  --executor-memory "${MEMORY}" --class com.example.Etl \
  "s3a://jars/etl-${VERSION:-1.0}.jar" "$DAY" '$literal' `hostname` &
