package sparkgen.probe;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;

/** The ends of a program that the words of its command line ask for. */
public final class Ends {
  private static final int PATIENCE = 20_000;
  private static final int PAUSE = 50;
  private static final Path GO_ON = Path.of("/tmp/go-on");

  private Ends() {}

  /** End the program of a context as its last word says. */
  static void as(JavaSparkContext context, String[] words) throws Exception {
    String last = words.length == 0 ? "stop" : words[words.length - 1];
    String end = last.contains(":") ? "stop" : last;
    String value = end.substring(end.indexOf('=') + 1);
    switch (end.split("=", 2)[0]) {
      case "stop" -> context.stop();
      case "open" -> { }
      case "raise" -> throw new IllegalStateException("the probe raises");
      case "exit" -> System.exit(Integer.parseInt(value));
      case "halt" -> Runtime.getRuntime().halt(Integer.parseInt(value));
      case "thread" -> new Thread(() -> lookAfterMain(context)).start();
      case "memory" -> fill();
      case "signal" -> signal(value);
      case "lose" -> lose(context, Integer.parseInt(value));
      default -> throw new IllegalArgumentException(end);
    }
  }

  /**
   * Print, on a thread that keeps the JVM, whether the context is stopped once `main` has returned. With a stopped
   * one, go on until the test has seen that the executors are gone, and print only then: a JVM that exits as `main`
   * returns says nothing, however fast its executors go.
   */
  public static void lookAfterMain(JavaSparkContext context) {
    try {
      for (int waited = 0; waited < PATIENCE && !context.sc().isStopped(); waited += PAUSE) {
        Thread.sleep(PAUSE);
      }
      boolean stopped = context.sc().isStopped();
      while (stopped && !Files.exists(GO_ON)) {
        Thread.sleep(PAUSE);
      }
      System.out.println("AFTER " + (stopped ? "stopped" : "open"));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Fill the heap. */
  public static void fill() {
    List<long[]> kept = new ArrayList<>();
    while (true) {
      kept.add(new long[1 << 22]);
    }
  }

  /** Send this process a signal, and wait for it. */
  public static void signal(String name) throws Exception {
    new ProcessBuilder("kill", "-" + name, String.valueOf(ProcessHandle.current().pid())).start().waitFor();
    Thread.sleep(PATIENCE);
  }

  /** Lose an executor in each attempt of a task: its JVM exits. */
  public static void lose(JavaSparkContext context, int code) {
    context.parallelize(List.of(code), 1).foreach(one -> Runtime.getRuntime().halt(one));
  }
}
