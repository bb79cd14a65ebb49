"""The study ``bbr-cases``: the test cases of the BBR draft, each a scenario and a check of its trace."""
