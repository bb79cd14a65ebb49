"""Real programs in runs: their commands, their output, a browser, web servers and clients."""
