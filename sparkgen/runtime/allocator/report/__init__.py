"""Reports for people and programs: log, Events, /status and /metrics."""
