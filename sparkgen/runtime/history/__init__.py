"""The Job beside each new run: it removes the ended runs that spec.run.history does not keep."""
