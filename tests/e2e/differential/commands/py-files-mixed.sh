# Python files of a web server and of the image at once, one under another name.
spark-submit @COMMON@ \
  --py-files @WEB@/helper.py,local:///opt/probe/zipped.zip \
  --files @WEB@/words.txt#listed.txt \
  local:///opt/probe/probe.py
