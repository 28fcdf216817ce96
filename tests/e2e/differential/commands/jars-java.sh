# Jars of a web server and of the image, for a program on the JVM.
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe \
  --jars @WEB@/greeter.jar,local:///opt/probe/other.jar \
  local:///opt/spark/jars/sparkgen-probe.jar
