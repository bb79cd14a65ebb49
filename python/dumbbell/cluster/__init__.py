"""Workers on other machines, which a scheduler of dask reaches."""
