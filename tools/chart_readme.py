"""charts/spark-app/README.md (for now a stub)."""
def readme() -> str:
    return "# spark-app\n"
