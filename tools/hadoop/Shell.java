import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;

/** Commands of `hdfs dfs`, with ";" between them: one JVM for all. It ends with the first one that fails. */
public class Shell {
  public static void main(String[] words) throws Exception {
    FsShell shell = new FsShell(new Configuration());
    int from = 0;
    while (from < words.length) {
      int to = from;
      while (to < words.length && !words[to].equals(";")) to++;
      int status = shell.run(Arrays.copyOfRange(words, from, to));
      if (status != 0) System.exit(status);
      from = to + 1;
    }
    System.exit(0);
  }
}
