spark-submit --name 'Quoted Name' --class "com.example.It" --conf 'spark.app.note=a "b" c' \
  --conf spark.x=1\ 2 --conf "spark.tab"=$'a\tb' \
  --conf spark.kubernetes.container.image=registry.example.com/a:1.0.0 --verbose \
  local:///opt/a.jar "" 'it'\''s' "two words" -- --flag=1 # a comment
