# Files of a web server and of the image.
spark-submit @COMMON@ \
  --files "@WEB@/numbers.csv,local:///opt/probe/words.txt" \
  local:///opt/probe/probe.py
