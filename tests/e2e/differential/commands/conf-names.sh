# The dependencies by the names of their properties.
spark-submit @COMMON@ \
  --conf spark.files=@WEB@/numbers.csv \
  --conf spark.archives=@WEB@/data.zip#unpacked \
  --conf spark.jars=@WEB@/greeter.jar \
  --conf spark.submit.pyFiles=@WEB@/helper.py,@WEB@/zipped.zip \
  local:///opt/probe/probe.py
