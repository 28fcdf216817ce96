#!/bin/bash
# Properties of each verdict: fields, limits, older names, YARN's, plugins, and what spark-submit itself reads.
spark-submit \
  --master k8s://https://kubernetes.example.com:6443 \
  --deploy-mode cluster \
  --name judged \
  --class org.example.Nightly \
  --conf spark.kubernetes.container.image=registry.example.com/spark:4.3.0 \
  --conf spark.kubernetes.context=production \
  --conf spark.kubernetes.executor.terminationGracePeriodSeconds=2min \
  --conf spark.kubernetes.securityContext.allowPrivilegeEscalation=true \
  --conf spark.kubernetes.appKillPodDeletionGracePeriod=60 \
  --conf spark.kubernetes.scheduler.volcano.podGroupTemplateFile=/opt/podgroup.yaml \
  --conf spark.kubernetes.allocation.maximum=100 \
  --conf spark.kubernetes.allocation.maxPendingPodsPerRp=5 \
  --conf spark.kubernetes.allocation.pods.allocator=direct \
  --conf spark.kubernetes.executor.rollInterval=1h \
  --conf spark.kubernetes.driver.annotateExitException=true \
  --conf spark.kubernetes.jars.avoidDownloadSchemes=s3a \
  --conf spark.kubernetes.submitInDriver=true \
  --conf spark.plugins=org.example.Audit,org.apache.spark.scheduler.cluster.k8s.ExecutorRollPlugin \
  --conf spark.shuffle.sort.io.plugin.class=org.apache.spark.shuffle.KubernetesLocalDiskShuffleDataIO \
  --conf spark.submit.callSystemExitOnMainExit=true \
  --conf spark.yarn.executor.memoryOverhead=2048 \
  --conf spark.yarn.driver.memoryOverhead=512 \
  --conf spark.driver.memoryOverhead=1g \
  --conf spark.yarn.queue=etl \
  --conf spark.yarn.submit.waitAppCompletion=true \
  --conf spark.remote=sc://connect.example.com:15002 \
  --executor-memory 4g \
  local:///opt/app/nightly.jar
