"""A registry, as the OCI distribution specification 1.1 has it: its login, and to whom credentials may go.

Pushes and the init container `fetch` both use it. Nothing that a registry answers is believed.
https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md
"""
