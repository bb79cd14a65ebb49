"""The netem report: Reno and CUBIC over emulated delay and loss."""
