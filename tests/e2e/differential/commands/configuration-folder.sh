# The submitting machine's folder of configuration, with Log4j's and another file.
SPARK_CONF_DIR=configuration spark-submit @COMMON@ local:///opt/probe/probe.py
