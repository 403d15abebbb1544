"""What cases of the toy reach."""
