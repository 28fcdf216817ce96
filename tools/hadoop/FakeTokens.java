import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.spark.SparkConf;
import org.apache.spark.security.HadoopDelegationTokenProvider;

/**
 * Tokens of a service that there is not, for tests. In the folder spark.faketokens.folder, `calls` has a byte for each
 * call; while there is a file `away` there, it gives nothing, as Spark's own providers do when their service is away.
 */
public class FakeTokens implements HadoopDelegationTokenProvider {
  @Override
  public String serviceName() {
    return "faketokens";
  }

  @Override
  public boolean delegationTokensRequired(SparkConf conf, Configuration hadoopConf) {
    return true;
  }

  @Override
  public scala.Option<Object> obtainDelegationTokens(Configuration hadoopConf, SparkConf conf, Credentials creds) {
    try {
      Path folder = Paths.get(conf.get("spark.faketokens.folder"));
      Path calls = folder.resolve("calls");
      int number = Files.exists(calls) ? (int) Files.size(calls) : 0;
      Files.write(calls, new byte[number + 1]);
      if (Files.exists(folder.resolve("away"))) {
        return scala.Option.empty();
      }
      byte[] padding = new byte[1000 + number]; // so that the size of what is sent says which it is
      creds.addToken(new Text("fake"), new Token<TokenIdentifier>(padding, padding, new Text("FAKE"), new Text("fake")));
      return scala.Option.apply((Object) (System.currentTimeMillis() + conf.getTimeAsMs("spark.faketokens.life", "8s")));
    } catch (java.io.IOException problem) {
      throw new java.io.UncheckedIOException(problem);
    }
  }
}
