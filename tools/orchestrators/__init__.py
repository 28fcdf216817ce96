"""Programs of others that start runs, run for real in tests."""
