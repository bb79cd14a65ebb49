"""The study ``tcpeval``: the experiments of the common TCP evaluation suite, with generated traffic."""
