"""The study ``aqm``: queue disciplines characterised as RFC 7928 recommends."""
