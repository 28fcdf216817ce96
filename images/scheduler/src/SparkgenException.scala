package org.apache.spark.scheduler.cluster.sparkgen

import scala.util.control.NoStackTrace

import org.apache.spark.SparkException

/** Why an application cannot run. The message is for its author; a stack trace would only hide it. */
private[spark] final class SparkgenException(message: String) extends SparkException(message) with NoStackTrace
