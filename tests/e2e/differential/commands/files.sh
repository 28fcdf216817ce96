# Files of a web server and of the image.
# versions: 4
spark-submit @COMMON@ \
  --files "@WEB@/numbers.csv,local:///opt/probe/words.txt" \
  local:///opt/probe/probe.py
