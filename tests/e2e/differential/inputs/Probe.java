package sparkgen.probe;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkFiles;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import scala.Tuple2;

/** What a driver and its executors see around them, as JSON; and a program that prints it and ends as told. */
public final class Probe {
  private static final int LARGE = 1 << 20;
  private static final int PART = 4000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private Probe() {}

  /** `Probe WORD...`: see probe.py for the words; they mean the same here. */
  public static void main(String[] words) throws Exception {
    SparkConf conf = new SparkConf();
    for (String word : words) {
      if (word.startsWith("conf:")) {
        String[] pair = word.substring(5).split("=", 2);
        conf.set(pair[0], pair[1]);
      }
    }
    JavaSparkContext context = new JavaSparkContext(conf);
    Map<String, Object> report = new TreeMap<>();
    report.put("driver", Map.of("jvm", facts(), "arguments", List.of(words)));
    report.put("executor", Map.of("jvm", ofAnExecutor(context)));
    print(JSON.writeValueAsString(report));
    Ends.as(context, words);
  }

  /** Print a report in parts: a container's log breaks lines of more than 16 KiB. */
  private static void print(String text) {
    for (int start = 0; start < text.length(); start += PART) {
      System.out.println("PROBE " + text.substring(start, Math.min(text.length(), start + PART)));
    }
  }

  /** The facts of this JVM, as JSON, for the program in Python. */
  public static String json() throws Exception {
    return JSON.writeValueAsString(facts());
  }

  /** The facts of an executor's JVM, as JSON, for the program in Python. */
  public static String jsonOfAnExecutor(JavaSparkContext context) throws Exception {
    return JSON.writeValueAsString(ofAnExecutor(context));
  }

  private static Object ofAnExecutor(JavaSparkContext context) throws Exception {
    List<String> found = context.parallelize(List.of(1), 1).map(one -> json()).collect();
    return JSON.readTree(found.get(0));
  }

  private static Map<String, Object> facts() throws Exception {
    Map<String, Object> facts = new TreeMap<>();
    facts.put("properties", properties());
    facts.put("options", ManagementFactory.getRuntimeMXBean().getInputArguments());
    facts.put("environment", new TreeMap<>(System.getenv()));
    facts.put("classPath", classPath());
    facts.put("loaded", loaded());
    facts.put("directory", System.getProperty("user.dir"));
    facts.put("files", files(Path.of("").toAbsolutePath()));
    facts.put("sparkFiles", files(Path.of(SparkFiles.getRootDirectory())));
    facts.put("texts", texts());
    facts.put("conf", conf());
    facts.put("hadoop", hadoop());
    facts.put("user", user());
    facts.put("process", process());
    facts.put("memory", Runtime.getRuntime().maxMemory() >> 20);
    facts.put("processors", Runtime.getRuntime().availableProcessors());
    facts.put("place", Map.of(
        "timeZone", TimeZone.getDefault().getID(),
        "locale", Locale.getDefault().toString(),
        "charset", Charset.defaultCharset().name(),
        "fileNames", String.valueOf(System.getProperty("sun.jnu.encoding"))));
    TaskContext task = TaskContext.get();
    if (task != null) {
      facts.put("task", Map.of("cpus", task.cpus(), "resources", task.resourcesJMap().keySet()));
    }
    return facts;
  }

  /** The class path; Spark's own jars, whose order is that of a folder, are one entry. */
  private static List<String> classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(":"))
        .map(entry -> entry.startsWith("/opt/spark/jars/") ? "/opt/spark/jars/*" : entry)
        .distinct()
        .collect(Collectors.toList());
  }

  private static Map<String, String> properties() {
    Map<String, String> found = new TreeMap<>();
    System.getProperties().forEach((name, value) -> found.put(name.toString(), value.toString()));
    found.remove("java.class.path");
    return found;
  }

  /** The URLs of the class loaders above the JVM's own, the thread's first. */
  private static List<String> loaded() {
    List<String> found = new ArrayList<>();
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    for (; loader != null && loader != ClassLoader.getSystemClassLoader(); loader = loader.getParent()) {
      found.add(loader.getClass().getSimpleName());
      if (loader instanceof URLClassLoader urls) {
        Stream.of(urls.getURLs()).map(URL::toString).forEach(found::add);
      }
    }
    return found;
  }

  /** Paths below a folder with digests of their bytes; a large file has its size. */
  private static Map<String, String> files(Path folder) throws Exception {
    Map<String, String> found = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(folder, 4, java.nio.file.FileVisitOption.FOLLOW_LINKS)) {
      for (Path path : paths.filter(Files::isRegularFile).limit(200).collect(Collectors.toList())) {
        found.put(folder.relativize(path).toString(), digest(path));
      }
    }
    return found;
  }

  private static String digest(Path path) throws Exception {
    if (Files.size(path) > LARGE) {
      return Files.size(path) + " bytes";
    }
    byte[] sum = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(path));
    return HexFormat.of().formatHex(sum, 0, 6);
  }

  /** What each `probe.txt` on the class path says, in the order of the class path. */
  private static List<String> texts() throws IOException {
    List<String> found = new ArrayList<>();
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    for (URL url : Collections.list(loader.getResources("probe.txt"))) {
      try (var stream = url.openStream()) {
        found.add(new String(stream.readAllBytes(), StandardCharsets.UTF_8).strip());
      }
    }
    return found;
  }

  private static Map<String, String> conf() {
    Map<String, String> found = new TreeMap<>();
    for (Tuple2<String, String> pair : SparkEnv.get().conf().getAll()) {
      found.put(pair._1(), pair._2());
    }
    return found;
  }

  /** Hadoop's configuration without what Hadoop's own files say. */
  private static Map<String, String> hadoop() {
    Configuration configuration = SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
    Map<String, String> found = new TreeMap<>();
    for (Map.Entry<String, String> entry : configuration) {
      String[] sources = configuration.getPropertySources(entry.getKey());
      if (sources == null || !sources[sources.length - 1].endsWith("-default.xml")) {
        found.put(entry.getKey(), entry.getValue());
      }
    }
    return found;
  }

  private static Map<String, String> user() throws IOException {
    UserGroupInformation user = UserGroupInformation.getCurrentUser();
    UserGroupInformation real = user.getRealUser();
    return Map.of(
        "name", System.getProperty("user.name"),
        "home", System.getProperty("user.home"),
        "hadoop", user.getUserName(),
        "real", real == null ? "" : real.getUserName(),
        "login", UserGroupInformation.getLoginUser().getUserName(),
        "method", user.getAuthenticationMethod().name());
  }

  /** User and group ids, capabilities and limits, as the kernel knows them. */
  private static Map<String, String> process() throws IOException {
    Map<String, String> found = new TreeMap<>();
    List<String> wanted = List.of("Uid", "Gid", "Groups", "Umask", "NoNewPrivs", "Seccomp", "CapEff", "CapBnd");
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      String[] pair = line.split(":\\s*", 2);
      if (wanted.contains(pair[0])) {
        found.put(pair[0], pair[1].strip().replace('\t', ' '));
      }
    }
    for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
      if (line.startsWith("Max ")) {
        String[] columns = line.split("  +");
        found.put(columns[0], columns[1] + " " + columns[2]);
      }
    }
    return found;
  }
}
