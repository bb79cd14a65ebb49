"""The study ``aqm``: queue disciplines characterized as RFC 7928 recommends."""
