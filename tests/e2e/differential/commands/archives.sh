# Archives are unpacked under the name behind `#`, or under their own.
spark-submit @COMMON@ \
  --archives "@WEB@/data.zip#unpacked,@WEB@/data.tar.gz" \
  local:///opt/probe/probe.py
