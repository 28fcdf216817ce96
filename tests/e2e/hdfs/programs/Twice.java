import org.apache.spark.sql.api.java.UDF1;

/** A function of a jar in HDFS that executors call. */
public class Twice implements UDF1<Long, Long> {
  @Override
  public Long call(Long number) {
    return 2 * number;
  }
}
