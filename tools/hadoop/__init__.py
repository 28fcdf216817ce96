"""A Kerberos KDC and a secure HDFS for tests."""
