"""Run the jobs of a command on the workers of a Dask cluster, and note what became of each."""
