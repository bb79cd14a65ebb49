"""What this satellite adds to the core."""

from dumbbell.satellites import Satellite

SATELLITE = Satellite(
    commands={
        "Captures": {"analyze": "Analyze capture files: connections, labels as in Wireshark, RTTs, losses, series."}
    }
)
