"""A registry, as the OCI distribution specification 1.1 has it: what is there, and uploads.

urllib3 is imported here alone: https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md.
"""
