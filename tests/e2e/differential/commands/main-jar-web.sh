# The program's jar comes from a web server.
spark-submit @COMMON@ --class sparkgen.probe.Probe @WEB@/probe-@VERSION@.jar
