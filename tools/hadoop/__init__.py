"""A Kerberos KDC for tests, on this machine's loopback address."""
