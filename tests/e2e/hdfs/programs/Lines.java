import org.apache.spark.sql.SparkSession;

/** An application whose main file is a jar in HDFS: it counts the lines of a file there. */
public class Lines {
  public static void main(String[] words) {
    SparkSession spark = SparkSession.builder().getOrCreate();
    System.out.println("lines: " + spark.read().textFile(words[0]).count());
    spark.stop();
  }
}
