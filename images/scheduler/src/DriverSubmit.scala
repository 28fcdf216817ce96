package org.apache.spark.deploy.sparkgen

import java.nio.file.{Files, Paths}

import org.apache.hadoop.conf.{Configuration => HadoopConfiguration}

import org.apache.spark.{SparkConf, SparkException, SparkUserAppException}
import org.apache.spark.deploy.{SparkApplication, SparkSubmit, SparkSubmitArguments}
import org.apache.spark.scheduler.cluster.sparkgen.ScalaLine
import org.apache.spark.util.Utils

/**
 * Submits the application as spark-submit does it in a driver pod of Spark's own Kubernetes backend.
 *
 * spark-submit looks at its master in many places. For a master that begins with `spark` it does what a standalone
 * cluster needs: it leaves files and archives where they are, resolves packages after it has fetched the main file,
 * and leaves a SparkContext alone that `main` did not stop. So this program shows it Kubernetes' master, and gives
 * sparkgen's to the SparkContext.
 *
 * The stock entrypoint starts the JVM with the launch properties, which have what
 * Spark's launcher reads. The arguments are those of spark-submit for the application itself.
 */
private[spark] final class DriverSubmit extends SparkApplication {

  /** Runs the application to its end. `conf`: the launch properties, and what the image's entrypoint has added. */
  override def start(args: Array[String], conf: SparkConf): Unit = {
    val problem = ScalaLine.problem()
    if (problem != null) { // on the wrong line, the rest may not even load
      throw new SparkException(problem)
    }
    DriverSubmit.run(args, conf)
  }
}

private[spark] object DriverSubmit {
  /** In the launch properties: the file with all properties of the application. */
  val PropertiesFile = "spark.sparkgen.propertiesFile"
  /** Never called: spark-submit looks at its scheme only. */
  private val Kubernetes = "k8s://https://kubernetes.default.svc"
  private val InDriver = "spark.kubernetes.submitInDriver"
  private val KubernetesBackend = "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication"
  private val ForWorkingDirectory = Seq("spark.files", "spark.archives", "spark.jars", "spark.submit.pyFiles")
  /** What the outer spark-submit sets by itself, for this class and not for the application. */
  private val OfOuter = Set(PropertiesFile, "spark.master", "spark.app.name", "spark.app.submitTime",
    "spark.submit.deployMode", "spark.submit.pyFiles", "spark.jars")

  private def run(args: Array[String], conf: SparkConf): Unit = {
    // The outer spark-submit has put its own loader here, with nothing in it.
    Thread.currentThread.setContextClassLoader(getClass.getClassLoader)
    val file = conf.get(PropertiesFile)
    val properties = Utils.getPropertiesFromFile(file)
    val master = reasonAgainst(properties.toMap) match {
      case None => Seq("--master", Kubernetes, "--conf", s"$InDriver=true")
      case Some(reason) =>
        SparkSubmit.printMessage(s"Warning: sparkgen: $reason")
        Nil
    }
    val options = Seq("--deploy-mode", "client", "--properties-file", file) ++ master ++ ofEntrypoint(conf)
    try new Submit(properties("spark.master")).doSubmit(options.toArray ++ args) catch {
      case exit: SparkUserAppException => System.exit(exit.exitCode)
    }
  }

  /** Why spark-submit cannot do here what it does for Kubernetes, although it could run the application. */
  private def reasonAgainst(properties: Map[String, String]): Option[String] =
    if (!Utils.classIsLoadable(KubernetesBackend)) {
      Some("this Spark has no Kubernetes backend (spark-kubernetes_*.jar): files, archives and jars are not put into " +
        "the driver's working directory, and a SparkContext that main leaves open is not stopped")
    } else if (!Files.isWritable(Paths.get("")) && ForWorkingDirectory.exists(properties.contains)) {
      Some(s"the driver's working directory ${Paths.get("").toAbsolutePath} is read-only, so files, archives and jars " +
        "are not put there; to change that, mount an emptyDir there")
    } else {
      None
    }

  /** The options `--conf` that an entrypoint has added, which come before any file of properties. */
  private def ofEntrypoint(conf: SparkConf): Seq[String] =
    conf.getAll.toSeq.filterNot { case (name, _) => OfOuter(name) || sys.props.contains(name) }.flatMap {
      case (name, value) => Seq("--conf", s"$name=$value")
    }

  /** spark-submit, with the master `ours` for the SparkContext. */
  private final class Submit(ours: String) extends SparkSubmit {
    override private[deploy] def prepareSubmitEnvironment(
        args: SparkSubmitArguments,
        conf: Option[HadoopConfiguration]): (Seq[String], Seq[String], SparkConf, String) = {
      if (args.master != ours && SparkSubmit.isUserJar(args.primaryResource)) {
        // In a driver pod of Kubernetes, spark-submit relies on the one that made the pod to have added it.
        args.jars = (Option(args.jars).filter(_.nonEmpty).toSeq :+ args.primaryResource).mkString(",")
      }
      val (childArgs, classPath, sparkConf, mainClass) = super.prepareSubmitEnvironment(args, conf)
      sparkConf.set("spark.master", ours)
      (childArgs, classPath, sparkConf, mainClass)
    }
  }
}
