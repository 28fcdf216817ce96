package org.apache.spark.scheduler.cluster.sparkgen

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

/** The body of `PUT /v1/state`: docs/design/protocol.md. */
private[spark] object StateJson {
  private val mapper = new ObjectMapper

  def write(speaker: Speaker, numbered: Numbered): Array[Byte] = {
    val state = numbered.state
    val root = mapper.createObjectNode()
    root.put("version", AllocatorClient.Version)
    root.put("session", speaker.session)
    root.put("owner", speaker.owner)
    root.put("revision", numbered.revision)
    root.put("phase", if (state.stopped) "stopped" else "running")
    root.put("applicationId", state.applicationId)
    root.put("dynamic", state.dynamic)
    numbers(root.putObject("targets"), state.wanted.map { case (profile, count) => profile.toString -> count.toLong })
    val profiles = root.putObject("profiles")
    state.profiles.toSeq.sortBy(_._1).foreach { case (id, needs) => profile(profiles, id, needs) }
    ids(root, "registered", state.ids(Status.Registered))
    ids(root, "lost", state.ids(Status.Lost))
    ids(root, "kills", state.ids(Status.Killed))
    ids(root, "draining", state.ids(Status.Draining))
    ids(root, "refused", state.ids(Status.Refused))
    val hosts = root.putObject("hostTasks")
    state.hostTasks.toSeq.sortBy(_._1).foreach { case (id, tasks) =>
      numbers(hosts.putObject(id.toString), tasks.map { case (host, count) => host -> count.toLong })
    }
    if (state.tokenFailures.nonEmpty) {
      val failures = root.putArray("tokenFailures")
      state.tokenFailures.foreach(tokenFailure(failures, _))
    }
    mapper.writeValueAsBytes(root)
  }

  /** Times as seconds since 1970. */
  private def tokenFailure(parent: ArrayNode, failure: TokenFailure): Unit = {
    val node = parent.addObject()
    node.put("service", failure.service)
    node.put("since", failure.since / 1000)
    node.put("attempts", failure.attempts)
    failure.expiresAt.foreach(end => node.put("expiresAt", end / 1000))
  }

  private def profile(parent: ObjectNode, id: Int, needs: ProfileNeeds): Unit = {
    val node = parent.putObject(id.toString)
    node.put("cores", needs.cores)
    node.put("memoryMiB", needs.memoryMiB)
    node.put("overheadMiB", needs.overheadMiB)
    node.put("pysparkMiB", needs.pysparkMiB)
    node.put("offHeapMiB", needs.offHeapMiB)
    numbers(node.putObject("resources"), needs.resources)
  }

  private def numbers(node: ObjectNode, values: Map[String, Long]): Unit =
    values.toSeq.sorted.foreach { case (name, value) => node.put(name, value) }

  private def ids(root: ObjectNode, name: String, values: Seq[String]): Unit = {
    val array = root.putArray(name)
    values.foreach(id => array.add(id))
  }
}
