"""What this satellite adds to the core."""

from dumbbell.satellites import Satellite

SATELLITE = Satellite(
    commands={
        "Experiments": {"study": "Repeat published experiments, and compare the results with their claims."},
        "Teaching": {"lab": "Exercises for a class: start a lab, check the answers, grade hand-ins."},
    },
    reports={"study.json": "dumbbell.studies.redraw:redraw"},
)
