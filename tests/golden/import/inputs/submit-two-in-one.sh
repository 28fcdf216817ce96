if [ "$1" = load ]; then
  spark-submit --class com.example.Load --conf spark.kubernetes.container.image=registry.example.com/a:1.0.0 local:///opt/a.jar
else
  cat <<END
spark-submit in a text is no command
END
  spark-submit --class com.example.Store --conf spark.kubernetes.container.image=registry.example.com/a:1.0.0 local:///opt/a.jar || exit 1
fi
echo "spark-submit is done"
