"""The directory that keeps results: journal, batches, files of runs, manifest."""
