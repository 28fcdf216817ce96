package org.apache.spark.scheduler.cluster.sparkgen

import scala.util.Try

import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging
import org.apache.spark.network.util.{ByteUnit, JavaUtils}

/** A property that runs with another value than the reviewed one; None is "not set". */
private[spark] final case class Difference(property: String, running: Option[String], reviewed: Option[String]) {
  override def toString: String =
    s"$property is ${running.getOrElse("not set")}, but the document " +
      reviewed.fold("does not set it")(value => s"says $value")
}

/**
 * Compares what the application asks for while it runs with what was reviewed. Executors are made as the document
 * says: a contradiction has to be seen.
 */
private[spark] object Mismatch extends Logging {
  val ReviewedPrefix = "spark.sparkgen.reviewed."

  private sealed trait Kind
  private case object Number extends Kind
  private case object Size extends Kind
  private case object Flag extends Kind

  private val Dynamic = "spark.dynamicAllocation.enabled"

  /** The compared properties, with Spark's defaults: a default that is spelled out is no difference. */
  private val Properties: Seq[(String, Kind, Option[String])] = Seq(
    ("spark.executor.cores", Number, Some("1")),
    ("spark.executor.memory", Size, Some("1g")),
    ("spark.executor.memoryOverhead", Size, None),
    ("spark.executor.pyspark.memory", Size, None),
    ("spark.executor.instances", Number, None),
    (Dynamic, Flag, Some("false")),
    ("spark.dynamicAllocation.minExecutors", Number, Some("0")),
    ("spark.dynamicAllocation.initialExecutors", Number, None),
    ("spark.dynamicAllocation.maxExecutors", Number, Some(Int.MaxValue.toString)))

  /** Throws SparkgenException for differences, or warns of them. */
  def check(conf: SparkConf, onMismatch: OnMismatch): Unit = {
    val differences = find(conf.getAllWithPrefix(ReviewedPrefix).toMap, conf.getAll.toMap)
    if (differences.nonEmpty) {
      val text = describe(differences)
      onMismatch match {
        case OnMismatch.Fail => throw new SparkgenException(text)
        case OnMismatch.Warn => logWarning(text)
      }
    }
  }

  /** Warns where the executors' Spark is another one of the same minor version. */
  def checkPatch(running: String, conf: SparkConf): Unit =
    conf.getOption(SparkVersion.OfExecutors).filter(_ != running).foreach { executors =>
      logWarning(s"This driver runs Spark $running, but its executors run Spark $executors: use the same version for both.")
    }

  /** The differences; none when nothing was reviewed (a driver that was started by hand). */
  def find(reviewed: Map[String, String], running: Map[String, String]): Seq[Difference] =
    if (reviewed.isEmpty) {
      Nil
    } else {
      for {
        (property, kind, default) <- Properties
        if counts(property, running)
        (mine, theirs) = (running.get(property), reviewed.get(property))
        if mine.orElse(default).map(value(kind, _)) != theirs.orElse(default).map(value(kind, _))
      } yield Difference(property, mine, theirs)
    }

  /** Bounds mean nothing without dynamic allocation. */
  private def counts(property: String, running: Map[String, String]): Boolean =
    property == Dynamic || !property.startsWith("spark.dynamicAllocation.") ||
      running.get(Dynamic).exists(_.trim.equalsIgnoreCase("true"))

  /** What a text means, so that 2g equals 2048m; a text that means nothing is only equal to itself. */
  private def value(kind: Kind, text: String): Any = {
    val trimmed = text.trim
    val meaning = kind match {
      case Number => Try(trimmed.toLong)
      case Size => Try(JavaUtils.byteStringAs(trimmed, ByteUnit.MiB))
      case Flag => Try(trimmed.toLowerCase(java.util.Locale.ROOT))
    }
    meaning.getOrElse(trimmed)
  }

  private def describe(differences: Seq[Difference]): String =
    s"""sparkgen: the running configuration contradicts the reviewed document:
       |${differences.map(difference => s"  $difference").mkString("\n")}
       |The running value was set by the application's code (.config(...), SparkConf) or on its command line; executors are
       |made as the document says. Remove it there, or change the document. To only be warned of it:
       |${Settings.OnMismatchKey}=warn""".stripMargin
}
