"""Machines that are reached over SSH, and the agent that makes runs on them.

::

    hosts          the hosts file: machines, roles, addresses
    connection     one SSH connection; each failure is one line
    agent          dumbbell-guest on a machine: copied, checked, started, asked
    clock          offsets between the machines' clocks
    team           all machines of a hosts file
    orders, merge  a plan as orders for the machines, and their answers as one run
    calibration    the path between the machines, measured before a run
    doctor         the report of `dumbbell doctor --hosts FILE`
"""
