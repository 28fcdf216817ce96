"""Names of real connectors' properties: which hold a secret, and which only say where or how."""

from __future__ import annotations

import time

import pytest

from sparkgen.semantics.secret import is_secret, redacted

SECRET = "Xk29fjsl2qq"  # noqa: S105 - of nobody
SECRETS = {
    # Spark, and Hadoop's object stores
    "spark.authenticate.secret": SECRET,
    "spark.ssl.keyStorePassword": SECRET,
    "spark.ssl.historyServer.keyPassword": SECRET,
    "spark.connect.authenticate.token": SECRET,
    "spark.hadoop.fs.s3a.secret.key": SECRET,
    "spark.hadoop.fs.s3a.access.key": SECRET,
    "spark.hadoop.fs.s3a.session.token": SECRET,
    "spark.hadoop.fs.s3a.bucket.logs.secret.key": SECRET,
    "spark.hadoop.fs.s3a.encryption.key": "c2VjcmV0LWtleS1vZi0zMi1ieXRlcw==",
    "spark.hadoop.fs.oss.accessKeySecret": SECRET,
    "spark.hadoop.fs.cosn.userinfo.secretKey": SECRET,
    "spark.hadoop.fs.lakefs.secret.key": SECRET,
    "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net": SECRET,
    "spark.hadoop.fs.azure.sas.data.shop.blob.core.windows.net": SECRET,
    "spark.hadoop.fs.azure.sas.fixed.token.shop.dfs.core.windows.net": SECRET,
    "spark.hadoop.fs.azure.account.oauth2.client.secret.shop.dfs.core.windows.net": SECRET,
    "spark.hadoop.fs.gs.auth.service.account.private.key": SECRET,
    "spark.hadoop.fs.gs.auth.refresh.token": SECRET,
    "spark.hadoop.javax.jdo.option.ConnectionPassword": SECRET,
    # databases
    "spark.redis.auth": SECRET,
    "spark.redis.read.connection.ssl.key.password": SECRET,
    "spark.es.net.http.auth.pass": SECRET,
    "spark.es.net.ssl.keystore.pass": SECRET,
    "spark.es.net.http.header.Authorization": "ApiKey VnVhQ2ZHY0JDZGJrUW0=",
    "spark.opensearch.net.proxy.http.pass": SECRET,
    "spark.snowflake.sfPassword": SECRET,
    "sfpassword": SECRET,
    "spark.snowflake.pem_private_key": SECRET,
    "spark.snowflake.private_key_passphrase": SECRET,
    "spark.cassandra.auth.password": SECRET,
    "spark.cassandra.connection.ssl.trustStore.password": SECRET,
    "spark.neo4j.authentication.basic.password": SECRET,
    "spark.neo4j.authentication.bearer.token": SECRET,
    "spark.neo4j.authentication.kerberos.ticket": SECRET,
    "spark.neo4j.authentication.custom.credentials": SECRET,
    "spark.cosmos.accountKey": SECRET,
    "spark.cosmos.auth.aad.clientSecret": SECRET,
    "spark.couchbase.password": SECRET,
    "spark.sql.catalog.clickhouse.password": SECRET,
    "spark.datasource.singlestore.password": SECRET,
    "spark.redshift.temporary_aws_secret_access_key": SECRET,
    "spark.redshift.temporary_aws_access_key_id": SECRET,
    "spark.mongodb.read.connection.uri": f"mongodb://svc:{SECRET}@db.example.com/shop",
    "spark.redis.read.connection.uri": f"redis://:{SECRET}@cache.example.com:6379",
    "spark.app.jdbc.url": f"jdbc:postgresql://db.example.com/shop?user=svc&password={SECRET}",
    "spark.app.oracle.url": f"jdbc:oracle:thin:scott/{SECRET}@//db.example.com:1521/shop",
    # catalogs and platforms
    "spark.sql.catalog.rest.credential": f"client:{SECRET}",
    "spark.sql.catalog.rest.token": SECRET,
    "spark.sql.catalog.rest.header.Authorization": f"Bearer {SECRET}",
    "spark.sql.catalog.rest.s3.secret-access-key": SECRET,
    "spark.sql.catalog.nessie.authentication.token": SECRET,
    "spark.databricks.service.token": SECRET,
    "spark.delta.sharing.bearerToken": SECRET,
    "spark.bigquery.gcpAccessToken": SECRET,
    "spark.bigquery.credentials": "eyJ0eXBlIjogInNlcnZpY2VfYWNjb3VudCJ9",
    "spark.kusto.kustoAadAppSecret": SECRET,
    "spark.splunk.hec.token": SECRET,
    "hoodie.datasource.hive_sync.password": SECRET,
    # streams
    "spark.kafka.ssl.keystore.password": SECRET,
    "spark.kafka.sasl.jaas.config": f'org.apache.X required username="u" password="{SECRET}";',
    "spark.schema.registry.basic.auth.user.info": f"key:{SECRET}",
    "spark.kafka.clusters.main.ssl.key.password": SECRET,
    "spark.pulsar.client.authParams": f"token:{SECRET}",
    "spark.app.pulsar": "token:eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl",
    "spark.rabbitmq.password": SECRET,
    "spark.eventhubs.connectionString": "Endpoint=sb://x/;SharedAccessKey=c2VjcmV0LWtleS1vZi0zMg==",
    "spark.kinesis.awsSecretKey": SECRET,
    # variables
    "PGPASSWORD": SECRET,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "DB_PASSWORD_PROD": SECRET,
    "OPENAI_API_KEY_2": SECRET,
    "MLFLOW_TRACKING_TOKEN": SECRET,
}
HARMLESS = {
    "spark.kerberos.renewal.credentials": "ccache",
    "spark.authenticate.secretBitLength": "256",
    "spark.authenticate.secret.file": "secrets/rpc",
    "spark.redaction.regex": "(?i)secret|password|token",
    "spark.ssl.keyStore": "keystore.jks",
    "spark.ssl.keyStoreType": "PKCS12",
    "spark.io.encryption.keySizeBits": "256",
    "spark.security.credentials.hive.enabled": "no",
    "spark.yarn.security.credentials.hbase.enabled": "no",
    "spark.sql.hive.metastore.token.signature": "HiveServer2ImpersonationToken",
    "spark.hadoop.hive.cluster.delegation.token.store.zookeeper.connectString": "zk1:2181,zk2:2181",
    "spark.hadoop.hive.cluster.delegation.token.store.class": "DBTokenStore",
    "spark.hadoop.dfs.namenode.delegation.token.max-lifetime": "604800000",
    "spark.hadoop.fs.s3a.aws.credentials.provider": "WebIdentityTokenCredentialsProvider",
    "spark.hadoop.fs.s3a.aws.credentials.provider.mapping": "a.V1Provider=b.V2Provider",
    "spark.hadoop.hadoop.security.token.service.use_ip": "no",
    "spark.hadoop.fs.s3a.encryption.key": "arn:aws:kms:eu-west-1:1:key/a",
    "spark.hadoop.fs.s3a.encryption.algorithm": "SSE-KMS",
    "spark.hadoop.fs.s3a.assumed.role.arn": "arn:aws:iam::1:role/x",
    "spark.hadoop.hadoop.security.credential.provider.path": "jceks://hdfs/x.jceks",
    "spark.hadoop.hadoop.security.authentication": "kerberos",
    "spark.hadoop.fs.azure.account.auth.type.shop.dfs.core.windows.net": "OAuth",
    "spark.hadoop.fs.azure.account.oauth2.client.id.shop.dfs.core.windows.net": "0f1e-22",
    "spark.hadoop.fs.azure.account.oauth2.client.endpoint.shop.dfs.core.windows.net": "https://x/oauth2/token",
    "spark.hadoop.fs.azure.sas.token.provider.type.shop.dfs.core.windows.net": "o.a.Provider",
    "spark.hadoop.fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
    "spark.hadoop.fs.gs.auth.service.account.json.keyfile": "key.json",
    "spark.bigquery.credentialsFile": "key.json",
    "spark.bigquery.gcpAccessTokenProvider": "Provider",
    "spark.redis.host": "cache.example.com",
    "spark.redis.user": "etl",
    "spark.es.net.http.auth.user": "elastic",
    "spark.es.net.ssl.keystore.location": "keystore.jks",
    "spark.snowflake.sfUser": "ETL",
    "spark.snowflake.sfURL": "acme.snowflakecomputing.com",
    "spark.cassandra.auth.username": "etl",
    "spark.cassandra.connection.ssl.clientAuth.enabled": "yes",
    "spark.neo4j.authentication.type": "basic",
    "spark.neo4j.authentication.kerberos.principal": "alice",
    "spark.cosmos.accountEndpoint": "https://x.documents.azure.com",
    "spark.couchbase.connectionString": "couchbase://db",
    "spark.mongodb.read.connection.uri": "mongodb://db.example.com/shop",
    "spark.sql.catalog.rest.oauth2-server-uri": "https://x/v1/oauth/tokens",
    "spark.sql.catalog.rest.token-refresh-enabled": "true",
    "spark.sql.catalog.rest.rest.auth.type": "oauth2",
    "spark.sql.catalog.nessie.authentication.type": "BEARER",
    "spark.kafka.security.protocol": "SASL_SSL",
    "spark.kafka.clusters.main.sasl.token.mechanism": "SCRAM-SHA-512",
    "spark.kafka.clusters.main.auth.bootstrap.servers": "k1:9092",
    "spark.kafka.ssl.truststore.location": "trust.jks",
    "spark.schema.registry.basic.auth.credentials.source": "USER_INFO",
    "spark.pulsar.client.authPluginClassName": "AuthenticationToken",
    "spark.delta.sharing.shareCredentialsVersion": "1",
    "spark.databricks.passthrough.enabled": "true",
    "spark.app.tokenizer": "whitespace",
    "spark.app.compass": "north",
    "spark.app.max_tokens": "4096000",
    "spark.app.primary.key": "order_id",
    "spark.app.public.key": "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
    "hoodie.datasource.write.recordkey.field": "uuid",
    "spark.app.password": "${env:DB_PASSWORD}",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "token",
    "DB_SECRET_NAME": "prod-db",
}


@pytest.mark.parametrize(("name", "text"), SECRETS.items())
def test_secrets(name: str, text: str) -> None:
    """A value that somebody could log in with."""
    assert is_secret(name, text)


TOKENS = (
    *("ghu_" + "aB3" * 12, "glrt-" + "aB3-" * 5, "xapp-" + "12345-" * 4, "AIza" + "aB3_-" * 7),
    *("npm_" + "aB3" * 12, "pypi-AgEIcHlwaS5vcmc" + "aB3" * 20, "hf_" + "aB" * 17, "dop_v1_" + "0f" * 32),
    *("dapi" + "0f" * 16, "sk-proj-" + "aB3" * 16, "sk_live_" + "aB3" * 8, "hvs." + "aB3" * 20),
    *("GOCSPX-" + "aB3-" * 7, "aB38Q~" + "aB3" * 12, "AGE-SECRET-KEY-1" + "Q7RS" * 14 + "Q7"),
)
"""One of each kind that has a well-known beginning, made here."""


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:5])
def test_a_well_known_token_is_a_secret_whatever_its_name(token: str) -> None:
    """As in files that are pushed (tests/unit/delivery/test_look.py); no rest of it is in a message."""
    assert is_secret("spark.my.option", token)
    assert is_secret("spark.my.option", f"--key={token};x")
    assert redacted(f"a {token} b") == "a *** b"
    assert not is_secret("spark.my.option", f"x{token[:12]}")


@pytest.mark.parametrize("before", ["", "Bearer ", "x-", "a=eyJ-"])
def test_a_web_token_is_a_secret(before: str) -> None:
    """Also behind a hyphen, which may be a part of one."""
    token = "eyJ" + "aB3" * 12 + ".eyJ" + "cD4" * 12
    assert is_secret("spark.my.option", before + token)


def test_the_beginning_of_a_web_token_again_and_again_is_read_once() -> None:
    """Each was followed to the end of the text: its square."""
    begun = time.monotonic()
    assert not is_secret("spark.my.option", "eyJ-" * 60_000)
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(("name", "text"), HARMLESS.items())
def test_harmless(name: str, text: str) -> None:
    """A place, a way, a size, a name: nothing to hide."""
    assert not is_secret(name, text)


def test_a_login_s_kind_is_no_secret_and_a_password_is() -> None:
    """`auth` has both kinds of values."""
    assert not is_secret("spark.app.auth", "kerberos")
    assert is_secret("spark.app.auth", SECRET)
    assert is_secret("spark.app.password", "kerberos")


def test_no_message_shows_them() -> None:
    """What is a secret whatever its name."""
    assert redacted("redis://:hunter22@cache") == "redis***cache"
    assert redacted("SharedAccessKey=c2VjcmV0LWtleS1vZi0zMg==;X=1") == "***;X=1"
