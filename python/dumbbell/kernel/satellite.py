"""What this satellite adds to the core."""

from dumbbell.satellites import Satellite

SATELLITE = Satellite(
    commands={
        "Real kernel": {
            "doctor": "List the features that this host supports, and how to add the others.",
            "kernel": "Build and list kernels for virtual time (`run --backend uml`).",
            "shell": "Run commands in the hosts of a live network (`run --backend kernel --hold`).",
            "validate": "Compare the simulator with the real kernel: the same scenarios on both.",
        }
    },
    backends={
        "kernel": "dumbbell.kernel.host.backend:Kernel",
        "uml": "dumbbell.kernel.uml.backend:Uml",
        "ssh": "dumbbell.kernel.ssh.backend:Ssh",
    },
    backend_classes={
        "LinkEmulation": "dumbbell.kernel.host.link_emulation:LinkEmulation",
        "Tc": "dumbbell.kernel.host.tc:Tc",
    },
    remains=["dumbbell.kernel.uml.build_folder:clean_all"],
)
