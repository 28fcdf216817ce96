package org.apache.spark.scheduler.cluster.sparkgen

import java.net.InetAddress
import java.util.Locale

import scala.util.Try

/**
 * Where executors run, and how hosts of data are matched to nodes: what the allocator reports of it.
 *
 * @param executors the node's name, by executor id
 * @param addresses the node's name, by an address of the node (as Nodes.key has it)
 * @param hosts     the node's name, by a host of data as storage reports it: what the document says of it
 */
private[spark] final case class Nodes(
    executors: Map[String, String] = Map.empty,
    addresses: Map[String, String] = Map.empty,
    hosts: Map[String, String] = Map.empty) {

  /** The rack of an executor: its node. None until the allocator has named it. */
  def rackOfExecutor(id: String): Option[String] = executors.get(id).map(Nodes.key)

  /**
   * The rack of a host of data: its node, whether or not an executor is there. By the document, by a node's address,
   * or else by the name: the first label of a host is that of its node.
   */
  def rackOfData(host: String): Option[String] =
    hosts.get(host).orElse(hosts.get(Nodes.key(host))).map(Nodes.key).orElse {
      if (Nodes.isAddress(host)) addresses.get(Nodes.key(host)).map(Nodes.key) else Some(Nodes.key(host))
    }
}

private[spark] object Nodes {

  /** What nodes are compared by: the first label, in lower case; of an address all of it, as Java writes it. */
  def key(name: String): String = name match {
    case IPv6() => Try(InetAddress.getByName(name).getHostAddress).getOrElse(name)
    case _ if isAddress(name) => name
    case _ => name.takeWhile(_ != '.').toLowerCase(Locale.ROOT)
  }

  /** An IPv6 address, which has many forms; Spark's are in brackets. Java asks no name server what it means. */
  private val IPv6 = """\[?[0-9a-fA-F]*:[0-9a-fA-F:.]*\]?""".r

  /** Whether it is an IP address, and not a name: those have no label to compare. */
  def isAddress(host: String): Boolean =
    host.indexOf(':') >= 0 || host.nonEmpty && host.forall(letter => letter == '.' || letter >= '0' && letter <= '9')
}
