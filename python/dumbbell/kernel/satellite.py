"""What this satellite adds to the core."""

from dumbbell.satellites import Flag, Satellite

SATELLITE = Satellite(
    commands={
        "Real kernel": {
            "doctor": "List the features that this host supports, and how to add the others.",
            "kernel": "Build kernels for virtual time (`run --backend uml`), and print the steps of a run.",
            "shell": "Run commands in the hosts of a live network (`run --backend kernel --hold`).",
            "validate": "Compare the simulator with the real kernel: the same scenarios on both.",
        }
    },
    backends={
        "kernel": "dumbbell.kernel.host.backend:Kernel",
        "uml": "dumbbell.kernel.uml.backend:Uml",
        "ssh": "dumbbell.kernel.ssh.backend:Ssh",
    },
    backend_texts={
        "kernel": "real Linux, with the best link emulation that this host supports (`dumbbell doctor`)",
        "uml": "Linux in virtual time (`dumbbell kernel build` builds it once)",
        "ssh": "the machines of --hosts",
    },
    flags={
        "hosts": Flag(
            ["ssh"],
            "The machines of --backend ssh, with their roles: a TOML file.",
            "runs on this machine",
            metavar="FILE",
        ),
        "keep_agent": Flag(
            ["ssh"],
            "Leave the agent's executable on the machines of --backend ssh, for repeated work.",
            "runs on this machine",
        ),
        "allow_programs": Flag(
            ["kernel", "uml"],
            "Let the scenario start programs of its own choice on this host (applications of kind command, args of "
            "iperf3), isolated and without rights. Without this option, a question at the terminal.",
            "starts no programs of a scenario's choice",
            ask="dumbbell.kernel.commands.consent:consents",
        ),
        "hold": Flag(
            ["kernel"],
            "Keep the network after the run (--backend kernel, one run). Commands for its hosts are typed at a "
            "prompt or read from stdin, until `exit` or the end of the input. Other terminals enter it with "
            "`dumbbell shell`.",
            "has no network to keep",
        ),
    },
    backend_classes={
        "LinkEmulation": "dumbbell.kernel.host.link_emulation:LinkEmulation",
        "Tc": "dumbbell.kernel.host.tc_backend:Tc",
    },
    remains=["dumbbell.kernel.uml.build_folder:clean_all"],
)
