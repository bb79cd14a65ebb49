# Two NewReno flows through a 100 Mbit/s bottleneck, without any trace:
# prints the delivered data packets.  Measure the CPU time from outside:
#
#   time ns bench.tcl [duration=60]
#
#   s1, s2 --1 Gbit/s, 1 ms-- r1 --100 Mbit/s, 18 ms-- r2 --1 Gbit/s, 1 ms-- d1, d2
#
# The base RTT is 40 ms.  Packets are 1000 + 40 bytes; one BDP is
# 100e6 * 0.040 / 8 / 1040 = 480 packets: the limit of the bottleneck queue.
# All other queues are too long to overflow, the window never limits.

array set opt {duration 60 queue 480 window 100000 seed 1}
foreach arg $argv {
    if {![regexp {^([a-z]+)=(.*)$} $arg -> key value] || ![info exists opt($key)]} {
        puts stderr "unknown argument: $arg"
        exit 2
    }
    set opt($key) $value
}
$defaultRNG seed $opt(seed)
set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 100Mb 18ms DropTail
$ns queue-limit $r1 $r2 $opt(queue)
$ns queue-limit $r2 $r1 100000
foreach k {1 2} start {0.0 0.05} {
    set s [$ns node]
    set d [$ns node]
    foreach {a b} [list $s $r1 $r2 $d] {
        $ns duplex-link $a $b 1000Mb 1ms DropTail
        $ns queue-limit $a $b 100000
        $ns queue-limit $b $a 100000
    }
    set tcp($k) [new Agent/TCP/Newreno]
    set sink($k) [new Agent/TCPSink]
    $tcp($k) set window_ $opt(window)
    $ns attach-agent $s $tcp($k)
    $ns attach-agent $d $sink($k)
    $ns connect $tcp($k) $sink($k)
    set ftp($k) [new Application/FTP]
    $ftp($k) attach-agent $tcp($k)
    $ns at $start "$ftp($k) start"
}

proc finish {} {
    global tcp sink opt
    set total 0
    foreach k {1 2} {
        # bytes_: everything delivered in order, the SYN's 40 bytes included.
        set packets [expr {([$sink($k) set bytes_] - 40) / 1040}]
        incr total $packets
        lappend flows [format {{"delivered":%d,"sent":%d,"retransmitted":%d,"timeouts":%d}} \
            $packets [expr {[$tcp($k) set ndatapack_] - 1}] \
            [$tcp($k) set nrexmitpack_] [$tcp($k) set nrexmit_]]
    }
    puts "{\"duration\":$opt(duration),\"queue\":$opt(queue),\"delivered\":$total,\"flows\":\[[join $flows ,]\]}"
    exit 0
}

$ns at $opt(duration) finish
$ns run
