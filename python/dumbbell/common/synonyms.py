"""Words of other programs for the words of a scenario: iperf, netperf, flent, ns-2, ns-3, mininet, tc, Linux, papers.

An unknown name is compared with this table before the nearest spelling is searched. A word may mean several
names: only those that are allowed in its place are suggested.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["SYNONYMS", "suggestions"]

SYNONYMS: dict[str, str] = {
    # applications
    "bulk": "bulksend ftp greedy elephant infinite unlimited saturating backlogged longlived netperf stream "
    "upload download",
    "page": "web website webpage httpget wget browser request download",
    "http": "web httpget wget browser curl server",
    "iperf3": "iperf iperf2",
    "transfer": "file filetransfer mouse short shortflow finite fct sendfile upload download",
    "cbr": "constant constantbitrate udp udpclient udpstream rtp video media",
    "voice": "voip rtp g711 audio call telephone phone sip",
    "onoff": "pareto exponential exponentialonoff telnet burst bursty poisson",
    "ping": "icmp echo fping v4ping udpecho",
    "command": "program shell exec script cmd process",
    # variants
    "bbr1": "bbrv1",
    "bbr3": "bbrv3 bbr2 bbrv2",
    "reno": "linuxreno",
    "newreno": "renoplus",
    "compound": "ctcp",
    "highspeed": "hstcp",
    "scalable": "stcp",
    "westwood": "westwoodplus",
    "lp": "lowpriority",
    "cubic": "default auto",
    # queue disciplines
    "droptail": "pfifo bfifo fifo pfifofast taildrop tail dropfront",
    "fq_codel": "fq fqcobalt",
    "cake": "cobalt cakemq",
    "red": "ared wred gred sred",
    "tbf": "htb shaper tokenbucket tokenbucketfilter",
    "dualpi2": "l4s dualq dualqueue coupled",
    "drr": "wfq wrr dwrr roundrobin",
    # scenario
    "duration": "time length runtime simtime simulationtime stoptime simduration",
    "repetitions": "runs iterations replications replicas trials repeat repeats samples",
    "seed": "rng randomseed rngrun rngseed",
    "name": "title id label",
    "description": "comment notes text",
    "measure_from": "warmup warmuptime transient skip",
    "start_jitter": "startspread staggering stagger",
    "sweep": "vary matrix grid parameters params factors",
    "capture": "pcap tcpdump dump captures",
    "trace": "tracing series record traces",
    "flows": "flow senders connections streams traffic hosts",
    "network": "topology net links",
    "variants": "laws",
    # network and links
    "bottleneck": "bottleneckbw bottleneckbandwidth bottleneckrate bottleneckdelay bottlenecklink bandwidth bw "
    "capacity rate delay latency rtt link queue",
    "rate": "bandwidth bw capacity speed datarate bitrate linkspeed bottleneckbw throughput",
    "delay": "latency propagation propagationdelay propdelay onewaydelay owd lag",
    "queue": "buffer buffersize bufferlength qdisc aqm qsize queuesize queuelimit maxqueue discipline",
    "limit": "size buffer buffersize qsize queuesize queuelimit maxsize capacity length packets",
    "discipline": "qdisc aqm kind type name algorithm",
    "loss": "lossrate packetloss plr per droprate errorrate",
    "corruption": "corrupt damage ber biterrors",
    "duplication": "duplicate duplicates dup",
    "reordering": "reorder reorders",
    "access": "edge leaf hostlink",
    "outages": "outage downtime handover",
    "routers": "hops switches nrouters nodes",
    "parking-lot": "parkinglot",
    "chain": "line linear multihop tandem",
    "dumbbell": "star single barbell",
    "custom": "graph mesh mininet",
    # flows
    "variant": "algorithm algo cc cca ca congestion congestioncontrol tcp type protocol law",
    "application": "app traffic workload generator",
    "transport": "proto protocol l4",
    "start": "begin starttime startat offset",
    "stop": "end finish stoptime endtime until duration",
    "from": "src source sender client host",
    "to": "dst dest destination sink receiver server",
    "class": "priority prio tos dscp band",
    "size": "bytes amount total filesize volume payload length maxbytes",
    "packet": "packetsize pktsize psize payload size mtu",
    "interval": "period gap wait",
    "every": "interval period gap",
    "repeat": "times n runs",
    # stack
    "mss": "segsize segmentsize maxseg segment packetsize mtu",
    "initial_window": "iw initcwnd initialcwnd cwnd",
    "initial_ssthresh": "ssthresh",
    "window": "rwnd receivewindow rcvbuf rcvwnd maxcwnd maxwindow sndbuf",
    "ack_delay": "delack delayedack delackto",
    "rto_min": "minrto",
    "rto_initial": "initialrto",
    "linux": "kernel modern",
    "ns2": "ns",
    "rfc": "standard",
    # back ends
    "sim": "simulator simulation ns3 ns2 des",
    "kernel": "linux real mininet netns emulation tc host",
    "uml": "virtual virtualtime vm qemu",
}
"""A name of Dumbbell -> words for it, without case, separators and prefixes such as ``tcp_``."""


def suggestions(given: str, known: Sequence[str]) -> list[str]:
    """Return the allowed names that an unknown word can mean, in the order of the table.

    Parameters
    ----------
    given : str
        The word.
    known : sequence of str
        The names that are allowed in its place.

    Examples
    --------
    >>> suggestions("pfifo_fast", ["red", "droptail"])
    ['droptail']
    >>> suggestions("TcpNewReno", ["reno", "newreno"])
    ['newreno']
    """
    word = _plain(given)
    same = [name for name in known if _plain(name) == word]
    return same or [name for name, words in SYNONYMS.items() if name in known and word in words.split()]


def _plain(word: str) -> str:
    """Return a word without case, separators, and the prefixes and suffixes of ns-3's types and Linux's modules."""
    text = re.sub(r"[^a-z0-9+]", "", word.lower())
    return re.sub(r"^(ns3)?(tcp)?(.+?)(application|helper|queuedisc)?$", r"\3", text) or word
