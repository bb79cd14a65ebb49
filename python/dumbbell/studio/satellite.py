"""What this satellite adds to the core."""

from dumbbell.satellites import Satellite

SATELLITE = Satellite(commands={"Teaching": {"studio": "Write the simulator as one HTML page, for browsers."}})
