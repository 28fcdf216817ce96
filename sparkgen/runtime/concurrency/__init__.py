"""The init container that lets only one driver of an application run at a time (spec.concurrencyPolicy)."""
