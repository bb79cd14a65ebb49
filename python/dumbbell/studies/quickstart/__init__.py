"""The study ``quickstart``: what textbooks tell of TCP and queues, shown in seconds."""
