package org.apache.spark.scheduler.cluster.sparkgen

/**
 * Refuses a Spark of another Scala line than the one this jar was compiled for.
 *
 * It must itself run on the wrong line, so it uses nothing of Scala's library but one static method
 * that returns a Java string: no closures, no collections, no interpolated strings.
 */
private[spark] object ScalaLine {
  private val Resource = "/META-INF/sparkgen/scala-line"

  /** A message for the user when the lines differ; null when all is well. */
  def problem(): String = {
    val running = lineOf(scala.util.Properties.versionNumberString)
    val own = compiledFor()
    if (own.equals(running)) {
      null
    } else {
      "sparkgen: this scheduler jar was compiled for Scala " + own + ", but this Spark runs on Scala " + running +
        ". Spark 3.x uses 2.12 and Spark 4.x uses 2.13: check spec.sparkVersion, or set spec.scalaVersion to " +
        running + "."
    }
  }

  /** "2.12" of "2.12.18". */
  private def lineOf(version: String): String = version.substring(0, version.indexOf('.', version.indexOf('.') + 1))

  private def compiledFor(): String = {
    val stream = getClass.getResourceAsStream(Resource)
    if (stream == null) {
      "?"
    } else {
      try {
        val bytes = new Array[Byte](16)
        new String(bytes, 0, stream.read(bytes), "US-ASCII").trim
      } finally {
        stream.close()
      }
    }
  }
}
