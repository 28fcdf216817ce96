package org.apache.spark.scheduler.cluster.sparkgen

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.scheduler.{ExecutorExited, ExecutorKilled, ExecutorLossReason, ExecutorProcessLost}

/** Why an executor is gone, in the allocator's words. `exitCode` is absent when no process has ended. */
private[spark] final case class Verdict(
    cause: String,
    byApplication: Boolean,
    exitCode: Option[Int],
    message: String) {

  /** Whether what the executor had written is gone; `withPods`: whether that is so with every pod that goes. */
  def takesFiles(withPods: Boolean): Boolean = withPods || cause == "node-lost"

  /** What Spark is told; `host` is where the executor ran. With it, Spark computes again what was written there. */
  def lossReason(host: Option[String], withPods: Boolean): ExecutorLossReason = cause match {
    case "killed" => ExecutorKilled
    case _ if takesFiles(withPods) => ExecutorProcessLost(message, host, causedByApp = byApplication)
    case _ => ExecutorExited(exitCode.getOrElse(Verdict.NoExitCode), byApplication, message)
  }
}

private[spark] object Verdict {
  val NoExitCode = -1
}

/** Executor bounds as the reviewed tuning has them now; None is unbounded. */
private[spark] final case class Bounds(minimum: Option[Int], maximum: Option[Int])

/**
 * What the allocator reports: docs/design/protocol.md. `bounds` is None with static allocation; `hold`: whether all
 * executors are to leave.
 */
private[spark] final case class Report(
    tag: String,
    gone: Map[String, Verdict],
    refuse: Set[String],
    bounds: Option[Bounds],
    failure: Option[String],
    hold: Boolean,
    nodes: Nodes)

private[spark] object Report {

  /** Reads a report; fields that are absent are empty, and those it does not know are not looked at. */
  def read(root: JsonNode): Report = Report(
    tag = root.path("tag").asText,
    gone = fields(root.path("gone")).map { case (id, node) => id -> verdict(id, node) }.toMap,
    refuse = root.path("refuse").elements.asScala.map(_.asText).toSet,
    bounds = present(root.path("bounds")).map(node => Bounds(int(node.path("minimum")), int(node.path("maximum")))),
    failure = present(root.path("failure")).map(_.asText),
    hold = root.path("hold").asBoolean(false),
    nodes = nodes(root))

  private def verdict(id: String, node: JsonNode): Verdict = {
    val cause = node.path("cause").asText("unknown")
    Verdict(
      cause = cause,
      byApplication = node.path("byApplication").asBoolean(false),
      exitCode = int(node.path("exitCode")),
      message = present(node.path("message")).map(_.asText).getOrElse(s"executor $id is gone: $cause"))
  }

  private def nodes(root: JsonNode): Nodes = {
    val found = fields(root.path("nodes")).toSeq
    Nodes(
      executors = byEntry(found, "executors"),
      addresses = byEntry(found, "addresses").map { case (address, name) => Nodes.key(address) -> name },
      hosts = fields(root.path("dataHosts")).map { case (host, node) => hostKey(host) -> node.asText }.toMap)
  }

  private def hostKey(host: String): String = if (Nodes.isAddress(host)) Nodes.key(host) else host

  /** The nodes, by each entry of a list that they have. */
  private def byEntry(nodes: Seq[(String, JsonNode)], list: String): Map[String, String] =
    nodes.flatMap { case (name, node) => node.path(list).elements.asScala.map(_.asText -> name) }.toMap

  private def fields(node: JsonNode): Iterator[(String, JsonNode)] =
    node.fieldNames.asScala.map(name => name -> node.get(name))

  private def int(node: JsonNode): Option[Int] = present(node).map(_.asInt)

  private def present(node: JsonNode): Option[JsonNode] = if (node.isMissingNode || node.isNull) None else Some(node)
}
