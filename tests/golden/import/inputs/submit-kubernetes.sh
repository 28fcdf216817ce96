#!/bin/bash
spark-submit \
  --master k8s://https://kubernetes.example.com:6443 \
  --deploy-mode cluster \
  --name orders-daily \
  --class com.example.orders.Daily \
  --conf spark.kubernetes.container.image=registry.example.com/orders:1.2.0 \
  --conf spark.kubernetes.namespace=analytics \
  --conf spark.kubernetes.authenticate.driver.serviceAccountName=spark \
  --conf spark.executor.instances=5 \
  --conf "spark.driver.extraJavaOptions=-XX:+UseG1GC -Dmode=daily" \
  --driver-memory 2g --executor-memory 4g --executor-cores 2 \
  --packages org.apache.hadoop:hadoop-aws:3.3.4 \
  local:///opt/app/orders.jar --day 2026-01-31
