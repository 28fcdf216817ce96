package org.apache.spark.scheduler.cluster.sparkgen

import scala.collection.immutable.BitSet
import scala.util.Try

/** Where an executor is, as the driver sees it. One id has one status. */
private[spark] sealed trait Status

private[spark] object Status {
  /** Spark counts on it. */
  case object Registered extends Status
  /** Its connection broke; the cluster's verdict is awaited. */
  case object Lost extends Status
  /** Spark has removed it; its end has not been reported yet. */
  case object Killed extends Status
  /** Spark decommissions it. */
  case object Draining extends Status
  /** It has not registered, and may not any more. */
  case object Refused extends Status
}

/** An executor that has registered, or whose registration is refused (then its host is not known). */
private[spark] final case class Executor(status: Status, host: Option[String])

/**
 * All that the driver tells the allocator, as one immutable value.
 *
 * @param dynamic   whether Spark's dynamic allocation sets the targets
 * @param targets   executors wanted, by resource profile id
 * @param executors by executor id
 * @param ended     ids that are over: reported gone, or refused and then gone. They never come back. They are
 *                  numbers that count up from 1, so each costs a bit for as long as the application runs
 * @param hostTasks by resource profile id, the tasks that would be local on each host
 * @param tokenFailures services whose tokens cannot be renewed now
 * @param idle      nobody has a session of the driver's Connect server: no executor is wanted, whatever the targets are
 */
private[spark] final case class DriverState(
    applicationId: String,
    dynamic: Boolean,
    stopped: Boolean = false,
    targets: Map[Int, Int] = Map.empty,
    profiles: Map[Int, ProfileNeeds] = Map.empty,
    executors: Map[String, Executor] = Map.empty,
    ended: BitSet = BitSet.empty,
    hostTasks: Map[Int, Map[String, Int]] = Map.empty,
    tokenFailures: Seq[TokenFailure] = Seq.empty,
    idle: Boolean = false) {

  import Status._

  /** What the allocator is told to have. */
  def wanted: Map[Int, Int] = if (idle) targets.map { case (profile, _) => profile -> 0 } else targets

  def status(id: String): Option[Status] = executors.get(id).map(_.status)

  def host(id: String): Option[String] = executors.get(id).flatMap(_.host)

  /** The ids with this status, in the order of their numbers. */
  def ids(status: Status): Seq[String] =
    executors.collect { case (id, executor) if executor.status == status => id }.toSeq.sortBy(id => (id.length, id))

  def wanting(targets: Map[Int, Int], profiles: Map[Int, ProfileNeeds], hosts: Map[Int, Map[String, Int]]): DriverState =
    copy(targets = targets, profiles = this.profiles ++ profiles, hostTasks = hosts.filter(_._2.nonEmpty))

  /** Whether `id` may register now. Asking and registering is one step, so that a refusal can be relied on. */
  def admitting(id: String, host: String): (DriverState, Boolean) =
    if (stopped || number(id).exists(ended.contains) || executors.contains(id)) {
      (this, false)
    } else {
      (copy(executors = executors.updated(id, Executor(Registered, Some(host)))), true)
    }

  def losing(id: String): DriverState = move(id, from = Set(Registered), to = Lost)

  def draining(ids: Iterable[String]): DriverState =
    ids.foldLeft(this)(_.move(_, from = Set(Registered), to = Draining))

  /** Spark has removed them, for whatever reason: the allocator is to see that they end. */
  def killing(ids: Iterable[String]): DriverState =
    ids.foldLeft(this)(_.move(_, from = Set(Registered, Lost, Draining), to = Killed))

  /** The cluster says that they are gone. */
  def without(gone: Iterable[String]): DriverState = {
    val known = gone.filter(executors.contains).toSet
    copy(executors = executors -- known, ended = ended ++ known.flatMap(number(_)))
  }

  /** Refuses those of `asked` that have not registered; those no longer asked for stay refused, unnamed. */
  def refusing(asked: Set[String]): DriverState = {
    val over = ids(Refused).filterNot(asked.contains)
    val fresh = asked.filterNot(executors.contains).map(_ -> Executor(Refused, None))
    copy(
      executors = executors -- over ++ fresh,
      ended = ended ++ over.flatMap(number(_)) -- asked.flatMap(number(_)))
  }

  /** The number that an executor's id is: the allocator gives no other ids. */
  private def number(id: String): Option[Int] = Try(id.toInt).toOption.filter(_ >= 0)

  private def move(id: String, from: Set[Status], to: Status): DriverState = executors.get(id) match {
    case Some(executor) if from(executor.status) => copy(executors = executors.updated(id, executor.copy(status = to)))
    case _ => this
  }
}
