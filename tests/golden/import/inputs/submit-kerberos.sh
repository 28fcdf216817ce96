#!/bin/sh
spark-submit --master k8s://https://kubernetes.example.com:6443 --deploy-mode cluster --name tokens \
  --conf spark.kubernetes.container.image=registry.example.com/team/spark:4.0.1 \
  --conf spark.kubernetes.hadoop.configMapName=hadoop-settings \
  --conf spark.kubernetes.kerberos.krb5.configMapName=krb5 \
  --conf spark.kubernetes.kerberos.tokenSecret.name=alice-tokens \
  --conf spark.kubernetes.kerberos.tokenSecret.itemKey=hadoop.token \
  --conf spark.kubernetes.kerberos.krb5.path=/etc/krb5.conf \
  --conf spark.kerberos.access.hadoopFileSystems=hdfs://a.example.com:8020,hdfs://b.example.com:8020 \
  local:///opt/app/main.py
