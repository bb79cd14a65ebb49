"""The host's own kernel, in real time: link emulation and tc."""
