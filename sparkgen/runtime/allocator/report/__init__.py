"""What people are told: log, Events, /status and /metrics."""
