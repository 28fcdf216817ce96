spark-submit --master local[4] --total-executor-cores 8 --supervise --proxy-user alice --bogus --remote sc://x \
  -c spark.executor.memory=2g --executor-memory=3g --archives env.tar.gz#env --driver-cores two jobs/run.py
