package org.apache.spark.sparkgen

import java.io.File
import java.lang.reflect.{Field, Modifier}
import java.util.jar.JarFile

import scala.collection.JavaConverters._

import org.apache.spark.SparkConf
import org.apache.spark.internal.config.ConfigEntry

/** Prints what Spark's own classes say about its properties. The arguments are the jars to look into.
  *
  * A line is `entry OBJECT.MEMBER KEY SINCE ALTERNATIVES`, or `older KEY NAME TRANSLATED`, with tabs
  * between the parts.
  */
object ListEntries {
  private val objects =
    "org/apache/spark/(?:internal/config/[A-Za-z]+|deploy/k8s/Config)\\$\\.class".r.pattern

  def main(jars: Array[String]): Unit = {
    val names = for {
      path <- jars
      entry <- new JarFile(new File(path)).entries.asScala.map(_.getName)
      if objects.matcher(entry).matches
    } yield entry.stripSuffix(".class").replace('/', '.')
    names.distinct.sorted.foreach(showEntries)
    showOlder()
  }

  private def showEntries(name: String): Unit = {
    val owner = Class.forName(name)
    val module = owner.getDeclaredFields.find(_.getName == "MODULE$").map(_.get(null)).orNull
    for (field <- owner.getDeclaredFields.sortBy(_.getName)) {
      value(field, module) match {
        case Some(entry: ConfigEntry[_]) =>
          val older = entry.alternatives.mkString(",")
          show("entry", s"$name.${field.getName}", entry.key, entry.version, older)
        case _ =>
      }
    }
  }

  private def value(field: Field, module: AnyRef): Option[Any] = {
    val static = Modifier.isStatic(field.getModifiers)
    if (!static && module == null) None
    else {
      field.setAccessible(true)
      Option(field.get(if (static) null else module))
    }
  }

  /** SparkConf's own table of older names. Spark asks for them in this order, and translates some values. */
  private def showOlder(): Unit = {
    val field = SparkConf.getClass.getDeclaredFields.find(_.getName.endsWith("configsWithAlternatives")).get
    field.setAccessible(true)
    val table = field.get(SparkConf).asInstanceOf[Map[String, Seq[Product]]]
    for ((key, names) <- table.toSeq.sortBy(_._1); name <- names)
      show("older", key, name.productElement(0).toString, (name.productElement(2) != null).toString)
  }

  private def show(parts: String*): Unit = println(parts.mkString("\t"))
}
