"""From a scenario's cell to the plan that the simulator runs: nodes, links and flows in base units."""
