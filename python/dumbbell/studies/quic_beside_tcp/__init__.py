"""The study ``quic-beside-tcp``: pages over TCP with TLS and over QUIC, both at one bottleneck, streams and loss."""
