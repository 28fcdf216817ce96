#!/bin/sh
set -e
export HADOOP_CONF_DIR=/etc/hadoop/conf
kinit -kt /etc/keytabs/etl.keytab etl@EXAMPLE.COM
/opt/spark/bin/spark-submit --master yarn --deploy-mode client --queue etl \
  --principal etl@EXAMPLE.COM --keytab /etc/keytabs/etl.keytab \
  --num-executors 10 --executor-memory 8G --executor-cores 4 \
  --files /etc/app/app.conf,hdfs:///conf/log4j.properties \
  --py-files lib/util.zip --properties-file /etc/app/spark.conf \
  /home/etl/jobs/load.py --table orders > /var/log/load.log 2>&1
