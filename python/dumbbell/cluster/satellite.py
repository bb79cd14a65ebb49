"""What this satellite adds to the core."""

from dumbbell.satellites import Satellite

READ = "dumbbell.cluster.places:read"
SATELLITE = Satellite(workers=dict.fromkeys(("dask://HOST:PORT", "tls://HOST:PORT", "slurm:N", "pbs:N"), READ))
