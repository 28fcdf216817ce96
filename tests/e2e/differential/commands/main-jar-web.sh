# The program's jar comes from a web server.
# versions: 4
spark-submit @COMMON@ --class sparkgen.probe.Probe @WEB@/probe-@VERSION@.jar
