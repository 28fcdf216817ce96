"""The generated files of charts/spark-app, and many documents through its templates at once."""
