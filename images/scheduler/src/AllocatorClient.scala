package org.apache.spark.scheduler.cluster.sparkgen

import java.io.{IOException, InputStream}
import java.net.{HttpURLConnection, Proxy, URL, URLEncoder}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.util.control.NonFatal

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** What came of a request. */
private[spark] sealed trait Answer

private[spark] object Answer {
  final case class Ok(body: JsonNode) extends Answer
  /** 204: nothing new. */
  case object NoNews extends Answer
  /** The allocator will never accept this: asking again changes nothing. */
  final case class Refused(message: String) extends Answer
  /** Nobody is there, or nobody who could answer now. */
  final case class Unreachable(why: String) extends Answer
}

/**
 * Speaks HTTP with the allocator: one request per call, no retries, no exceptions. It runs on Java 8, which
 * Spark 3.5 still supports.
 */
private[spark] final class AllocatorClient(settings: Settings, speaker: Speaker) {
  import AllocatorClient._
  import Answer._

  private val mapper = new ObjectMapper
  @volatile private var longPoll: Option[HttpURLConnection] = None

  def putState(numbered: Numbered): Answer = ask(StatePath) { connection =>
    connection.setRequestMethod("PUT")
    connection.setReadTimeout(PutTimeoutMs)
    connection.setRequestProperty("Content-Type", "application/json")
    connection.setDoOutput(true)
    val output = connection.getOutputStream
    try output.write(StateJson.write(speaker, numbered)) finally output.close()
  }

  /** The report, when it is not the one with the tag `seen`; NoNews when it stays that one for a while. */
  def getReport(seen: String): Answer =
    try {
      ask(s"$ReportPath?session=${encode(speaker.session)}&seen=${encode(seen)}&wait=$LongPollSeconds") { connection =>
        longPoll = Some(connection)
        connection.setReadTimeout((LongPollSeconds + 10) * 1000)
      }
    } finally {
      longPoll = None
    }

  /** Ends a poll that is under way. */
  def close(): Unit = longPoll.foreach(_.disconnect())

  private def ask(path: String)(prepare: HttpURLConnection => Unit): Answer =
    try {
      // NO_PROXY: a proxy set for the JVM (spark.driver.extraJavaOptions) knows no loopback of ours.
      val connection = new URL(settings.address.url + path).openConnection(Proxy.NO_PROXY)
        .asInstanceOf[HttpURLConnection]
      connection.setConnectTimeout(ConnectTimeoutMs)
      connection.setInstanceFollowRedirects(false)
      connection.setUseCaches(false)
      connection.setRequestProperty("Authorization", s"Bearer ${token()}")
      prepare(connection)
      read(connection)
    } catch {
      case problem: JsonProcessingException => Unreachable(s"its answer is not JSON: ${problem.getOriginalMessage}")
      case problem: IOException => Unreachable(Option(problem.getMessage).getOrElse(problem.toString))
      case NonFatal(problem) => Unreachable(problem.toString) // a connection that is cut in another thread
    }

  private def read(connection: HttpURLConnection): Answer = connection.getResponseCode match {
    case 200 => checkVersion(drain(connection.getInputStream)(mapper.readTree(_: InputStream)))
    case 204 => NoNews
    case 400 => Refused(s"the allocator at ${settings.address} does not understand this scheduler: ${error(connection)}")
    case 401 => Refused(
      s"the allocator at ${settings.address} rejects the token in ${settings.tokenFile}: ${error(connection)}")
    case 409 => Refused(error(connection)) // another driver has it: the allocator says which, and what to do
    case code => Unreachable(s"HTTP $code: ${error(connection)}")
  }

  private def checkVersion(body: JsonNode): Answer = {
    val version = body.path("version").asInt(0)
    if (version == Version) {
      Ok(body)
    } else {
      Refused(s"the allocator at ${settings.address} speaks protocol version $version, but this scheduler speaks " +
        s"version $Version: use a runtime image and a scheduler jar of the same sparkgen release.")
    }
  }

  private def error(connection: HttpURLConnection): String = Option(connection.getErrorStream) match {
    case None => "no reason given"
    case Some(stream) =>
      val text = drain(stream)(mapper.readTree(_: InputStream).path("error").asText)
      if (text.isEmpty) "no reason given" else text
  }

  /** Reads a stream to its end, so that the connection can be used again. */
  private def drain[A](stream: InputStream)(parse: InputStream => A): A =
    try parse(stream) finally stream.close()

  // Read for every request: a restarted allocator may have written another one.
  private def token(): String =
    try {
      new String(Files.readAllBytes(settings.tokenFile), UTF_8).trim
    } catch {
      case problem: IOException => throw new IOException(s"cannot read the token: $problem", problem)
    }
}

private[spark] object AllocatorClient {
  /** Of the protocol. */
  val Version = 1
  private val StatePath = "/v1/state"
  private val ReportPath = "/v1/report"
  private val LongPollSeconds = 20
  private val ConnectTimeoutMs = 2000
  private val PutTimeoutMs = 5000

  private def encode(text: String): String = URLEncoder.encode(text, "UTF-8")
}
