package org.apache.spark.scheduler.cluster.sparkgen

import java.util.UUID

import org.apache.spark.util.Utils

/**
 * Who speaks to the allocator.
 *
 * @param session random, one per SparkContext
 * @param owner   for people: the application's name, its process and its host; printable, 200 characters at most
 */
private[spark] final case class Speaker(session: String, owner: String)

private[spark] object Speaker {
  /** Of the application's name, and of all that stands after it. */
  private val MaxPart = 100
  private val Unprintable = Set(
    Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED,
    Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR).map(_.toInt)

  def of(application: String): Speaker =
    Speaker(UUID.randomUUID().toString.replace("-", ""), ownerOf(application, Utils.getProcessName()))

  /** The owner's text; `process` as Java 8 says it, too: PID@HOST. */
  def ownerOf(application: String, process: String): String = {
    val (id, host) = process.span(_ != '@')
    printable(application) + printable(s", process $id on ${host.drop(1)}")
  }

  private def printable(text: String): String = {
    val points = text.codePoints.limit(MaxPart).toArray
      .map(point => if (Unprintable(Character.getType(point))) '?'.toInt else point)
    new String(points, 0, points.length)
  }
}
