"""Run the jobs of a command on a Dask cluster or on devices, and note what became of each."""
