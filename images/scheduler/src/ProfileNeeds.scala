package org.apache.spark.scheduler.cluster.sparkgen

import org.apache.spark.SparkConf
import org.apache.spark.internal.config._
import org.apache.spark.resource.ResourceProfile

/** What an executor of a resource profile needs. Memory is in MiB; `resources` counts devices, by Spark's name. */
private[spark] final case class ProfileNeeds(
    cores: Int,
    memoryMiB: Long,
    overheadMiB: Long,
    pysparkMiB: Long,
    offHeapMiB: Long,
    resources: Map[String, Long])

private[spark] object ProfileNeeds {
  private val LeastOverheadMiB = 384L // ResourceProfile.MEMORY_OVERHEAD_MIN_MIB
  private val JvmFactor = 0.1
  private val NonJvmFactor = 0.4 // what Spark on Kubernetes takes for Python and R

  /** What `profile` asks for, and `conf` where it says nothing (as getResourcesForClusterManager has it). */
  def of(profile: ResourceProfile, conf: SparkConf, language: Language): ProfileNeeds = {
    val asked = profile.executorResources.map { case (name, request) => name -> request.amount }
    def amount(name: String, fallback: => Long): Long = asked.getOrElse(name, fallback)
    val memory = amount(ResourceProfile.MEMORY, conf.get(EXECUTOR_MEMORY))
    ProfileNeeds(
      cores = amount(ResourceProfile.CORES, conf.getInt("spark.executor.cores", 1).toLong).toInt,
      memoryMiB = memory,
      overheadMiB = amount(ResourceProfile.OVERHEAD_MEM, overhead(conf, memory, language)),
      pysparkMiB = if (language == Language.Python) amount(ResourceProfile.PYSPARK_MEM, pyspark(conf)) else 0L,
      offHeapMiB = amount(ResourceProfile.OFFHEAP_MEM, offHeap(conf)),
      resources = asked.filter { case (name, _) => !ResourceProfile.allSupportedExecutorResources.contains(name) })
  }

  private def overhead(conf: SparkConf, memoryMiB: Long, language: Language): Long =
    conf.getOption("spark.executor.memoryOverhead").map(_ => conf.getSizeAsMb("spark.executor.memoryOverhead"))
      .getOrElse(math.max((memoryMiB * overheadFactor(conf, language)).toLong, leastOverhead(conf)))

  private def overheadFactor(conf: SparkConf, language: Language): Double =
    conf.getOption("spark.executor.memoryOverheadFactor")
      .orElse(conf.getOption("spark.kubernetes.memoryOverheadFactor"))
      .map(_.toDouble)
      .getOrElse(if (language == Language.Jvm) JvmFactor else NonJvmFactor)

  private def leastOverhead(conf: SparkConf): Long =
    conf.getSizeAsMb("spark.executor.minMemoryOverhead", s"${LeastOverheadMiB}m")

  private def pyspark(conf: SparkConf): Long = conf.getSizeAsMb("spark.executor.pyspark.memory", "0")

  private def offHeap(conf: SparkConf): Long =
    if (conf.get(MEMORY_OFFHEAP_ENABLED)) conf.get(MEMORY_OFFHEAP_SIZE) / (1024L * 1024L) else 0L
}

/** In which language the application is written: it decides how much memory outside the heap is usual. */
private[spark] sealed trait Language

private[spark] object Language {
  case object Jvm extends Language
  case object Python extends Language
  case object R extends Language

  /** The language that made the context, by who called its constructor: ask in the thread that runs it. */
  def ofCaller(): Language = {
    val callers = Thread.currentThread.getStackTrace.map(_.getClassName)
    if (callers.exists(_.startsWith("py4j."))) Python
    else if (callers.exists(_.startsWith("org.apache.spark.api.r."))) R
    else Jvm
  }
}
