"""`sparkgen-runtime registry-gc`: removes the artifacts of a staging server that nothing names."""
