package org.apache.spark.scheduler.cluster.sparkgen

/**
 * Tokens of a service that could not be renewed; times are milliseconds since 1970.
 *
 * @param service   Spark's name of it, as in spark.security.credentials.SERVICE.enabled
 * @param since     when the first attempt failed
 * @param attempts  how many have failed in a row; 1 while no login works: nobody can count Spark's logins
 * @param expiresAt when the tokens end that are there; None where that is not known
 */
private[spark] final case class TokenFailure(service: String, since: Long, attempts: Int, expiresAt: Option[Long])
