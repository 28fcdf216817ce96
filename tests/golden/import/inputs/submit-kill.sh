spark-submit --kill spark:orders* --master k8s://https://kubernetes.example.com
