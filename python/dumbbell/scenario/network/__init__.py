"""The network of a scenario: links, topologies, impairments, media, and the layout that they give."""
