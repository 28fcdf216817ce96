# The program adds files, an archive and Python files itself.
spark-submit @COMMON@ \
  local:///opt/probe/probe.py \
  add-file:@WEB@/numbers.csv add-archive:@WEB@/data.zip#unpacked add-python:@WEB@/zipped.zip stop
