# The program itself comes from a web server.
spark-submit @COMMON@ @WEB@/probe.py
