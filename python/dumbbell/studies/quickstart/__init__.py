"""The study ``quickstart``: textbook statements about TCP and queues, shown in seconds."""
