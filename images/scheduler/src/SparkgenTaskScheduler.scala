package org.apache.spark.scheduler.cluster.sparkgen

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{TaskSchedulerImpl, TaskSet, TaskSetManager}

/**
 * Spark's scheduler, which knows nodes: what is on one node is one rack. Hosts of data are never equal to the
 * addresses of executors, which are those of pods; so without it no task is ever where its data is.
 *
 * Executors are known by their own addresses for everything else: shuffle files and their loss depend on that. So a
 * task that prefers an executor (cached data, shuffle files) gets no rack: it waits for no neighbour of it.
 *
 * All of it runs under this object's lock, as in TaskSchedulerImpl.
 */
private[spark] class SparkgenTaskScheduler(context: SparkContext) extends TaskSchedulerImpl(context) {
  import SparkgenTaskScheduler._

  private var nodes = Nodes()
  private var makingTaskSet = false
  /** Racks of hosts of executors. Spark asks for that of a host once more after its last executor has left it. */
  private val racks = mutable.HashMap[String, String]()

  /** Where executors are now. Spark looks at a new executor once, so those that it knew before are looked at again. */
  def learn(now: Nodes): Unit = synchronized {
    if (now != nodes) {
      nodes = now
      val late = hostToExecutors.keys.filterNot(racks.contains).flatMap(host => rackOfExecutors(host).map(host -> _)).toSeq
      late.foreach { case (host, rack) => hostsByRack.getOrElseUpdate(rack, mutable.HashSet[String]()) += host }
      if (late.nonEmpty) {
        rootPool.getSortedTaskSetQueue.foreach(_.executorAdded())
      }
      if (racks.size > Forgotten + 2 * hostToExecutors.size) {
        racks.keys.filterNot(hostToExecutors.contains).toSeq.foreach(racks.remove)
      }
    }
  }

  override def getRacksForHosts(hosts: Seq[String]): Seq[Option[String]] = synchronized(hosts.map(rack))

  override private[scheduler] def createTaskSetManager(taskSet: TaskSet, maxTaskFailures: Int): TaskSetManager = {
    makingTaskSet = true // its constructor asks for the racks of what its tasks prefer
    try super.createTaskSetManager(taskSet, maxTaskFailures) finally makingTaskSet = false
  }

  private def rack(host: String): Option[String] =
    if (!hostToExecutors.contains(host) && !racks.contains(host)) {
      nodes.rackOfData(host)
    } else if (makingTaskSet) {
      None
    } else {
      rackOfExecutors(host).orElse(racks.get(host))
    }

  private def rackOfExecutors(host: String): Option[String] = {
    val found = hostToExecutors.get(host).flatMap(_.flatMap(nodes.rackOfExecutor(_)).headOption)
    found.foreach(racks.update(host, _))
    found
  }
}

private[spark] object SparkgenTaskScheduler {
  /** So many hosts without executors may be remembered. */
  private val Forgotten = 1000
}
