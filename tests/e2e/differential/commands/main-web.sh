# The program itself comes from a web server.
# versions: 4
spark-submit @COMMON@ @WEB@/probe.py
