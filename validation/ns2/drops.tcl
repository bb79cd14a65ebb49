# One TCP flow over a link that drops listed packets, after Fall & Floyd
# 1996; prints the timeline as one JSON line.
#
#   s --- r1 ======= r2 --- d      s-r1, r2-d: 8 Mbit/s, 0.1 ms
#                                  r1-r2: 0.8 Mbit/s, 100 ms, huge queues
#
#   ns drops.tcl variant=newreno drops=14,26,28
#
# drops: numbers of data packets in their order of arrival at the r1-r2 link,
# from 0, retransmissions counted like any other packet, the SYN not counted.
# A listed packet is discarded before the queue: it takes no time on the link.
# Definitions of the results: data/README.md.

set tcl_precision 0
array set opt {
    variant reno  drops {}  window 100  bugfix 1  duration 30
    delack 0      deliver {}  seed 1    packets 0  keep {}
}
foreach arg $argv {
    if {![regexp {^([a-z]+)=(.*)$} $arg -> key value] || ![info exists opt($key)]} {
        puts stderr "unknown argument: $arg"
        exit 2
    }
    set opt($key) $value
}
array set agents {
    tahoe Agent/TCP           reno Agent/TCP/Reno    newreno Agent/TCP/Newreno
    sack Agent/TCP/Sack1      vegas Agent/TCP/Vegas
}
array set sinks {
    0,0 Agent/TCPSink         1,0 Agent/TCPSink/Sack1
    0,1 Agent/TCPSink/DelAck  1,1 Agent/TCPSink/Sack1/DelAck
}

# The agents draw the phase of their 10 ms clock from this generator.
set x [expr {(wide($opt(seed)) * 1000003 + 20264) % 2147483647}]
for {set i 0} {$i < 5} {incr i} {set x [expr {(wide($x) * 16807) % 2147483647}]}
$defaultRNG seed $x
# The second number, for the results: the phase.
set same [new RNG]
$same seed $x
$same uniform 0 0.01
set phase [$same uniform 0 0.01]

set tmp /tmp
if {[info exists env(TMPDIR)]} {set tmp $env(TMPDIR)}
set tracefile $tmp/ns2-drops-[pid].tr
set varfile $tmp/ns2-drops-[pid].var
set eventfile $tmp/ns2-drops-[pid].ev

set ns [new Simulator]
set events [open $eventfile w]
$ns eventtrace-all $events
foreach name {s r1 r2 d} {set $name [$ns node]}
$ns duplex-link $s $r1 8Mb 0.1ms DropTail
$ns duplex-link $r1 $r2 0.8Mb 100ms DropTail
$ns duplex-link $r2 $d 8Mb 0.1ms DropTail
foreach {a b} [list $s $r1 $r1 $s $r1 $r2 $r2 $r1 $r2 $d $d $r2] {
    $ns queue-limit $a $b 100000
}
set trace [open $tracefile w]
$ns trace-queue $s $r1 $trace
$ns trace-queue $r1 $r2 $trace
$ns trace-queue $r2 $d $trace

set vegas [expr {$opt(variant) eq "vegas"}]
set base [expr {!$vegas}]
if {$opt(drops) ne ""} {
    # The error model counts every packet entering r1-r2 from 0.  That is the
    # SYN and the data (ACKs go the other way), so data packet n is number
    # n + 1 for the variants with a SYN and n for Vegas.
    set list {}
    foreach p [split $opt(drops) ,] {lappend list [expr {$p + $base}]}
    set model [new ErrorModel/List]
    $model droplist $list
    $ns lossmodel $model $r1 $r2
}

set tcp [new $agents($opt(variant))]
set sink [new $sinks([expr {$opt(variant) eq "sack"}],$opt(delack))]
$tcp set window_ $opt(window)
$tcp set bugFix_ $opt(bugfix)
$ns attach-agent $s $tcp
$ns attach-agent $d $sink
$ns connect $tcp $sink
set var [open $varfile w]
$tcp attach $var
foreach v {cwnd_ ssthresh_ backoff_} {$tcp trace $v}
set ftp [new Application/FTP]
$ftp attach-agent $tcp
if {$opt(packets) > 0} {
    $ns at 0.0 "$ftp produce [expr {$opt(packets) + $base}]"
} else {
    $ns at 0.0 "$ftp start"
}
$ns at $opt(duration) finish

# A number as short as it can be read back.
proc trim {x} {
    set x [expr {double($x)}]
    return [expr {$x == int($x) ? int($x) : $x}]
}

proc finish {} {
    global ns opt trace var events tracefile varfile eventfile base vegas tcp phase
    $ns flush-trace
    foreach channel [list $trace $var $events] {close $channel}
    set sends {}
    set high -1
    set arrivals -1
    set dropped {}
    set next 0
    array set goal {}
    foreach g [split $opt(deliver) ,] {set goal($g) null}
    set in [open $tracefile r]
    while {[gets $in line] >= 0} {
        lassign $line op time from to type size flags fid src dst seq
        if {$type ne "tcp"} continue
        set seq [expr {$seq - $base}]
        if {$seq < 0} continue
        if {$from == 0 && $op eq "+"} {
            lappend sends "\[[trim $time],$seq,[expr {$seq <= $high}]\]"
            if {$seq > $high} {set high $seq}
        } elseif {$from == 1 && $op eq "+"} {
            incr arrivals
        } elseif {$from == 1 && $op eq "d"} {
            incr arrivals
            lappend dropped "\[[trim $time],$arrivals,$seq\]"
        } elseif {$from == 0 && $op eq "d"} {
            error "unscripted drop: $line"
        } elseif {$op eq "r" && $to == 3} {
            set got($seq) 1
            while {[info exists got($next)]} {
                incr next
                if {[info exists goal($next)]} {set goal($next) [trim $time]}
            }
        }
    }
    close $in

    # Variable trace: the value after each change.
    set cwnd {}
    set ssthresh {}
    set doubled {}
    set low {}
    set backoff 1
    set in [open $varfile r]
    while {[gets $in line] >= 0} {
        lassign $line time sa sp da dp name value
        set time [trim $time]
        switch -- $name {
            cwnd_ {
                lappend cwnd "\[$time,[trim $value]\]"
                if {$value == 1 || $value == 2} {lappend low $time}
            }
            ssthresh_ {lappend ssthresh "\[$time,$value\]"}
            backoff_ {
                if {$value > $backoff} {lappend doubled $time}
                set backoff $value
            }
        }
    }
    close $in

    set rto {}
    set fast {}
    if {$vegas} {
        # Vegas writes no events.  Its fast retransmits and its timeouts both
        # double the back-off, but a timeout sets cwnd to 1 and then to 2 while
        # a fast retransmit leaves at least 3 (inflated) or no change.
        foreach time $doubled {
            if {$time in $low} {lappend rto $time} else {lappend fast $time}
        }
    } else {
        set in [open $eventfile r]
        while {[gets $in line] >= 0} {
            lassign $line e time from to proto name
            if {$e ne "E"} continue
            switch -- $name {
                TIMEOUT {lappend rto [trim $time]}
                FAST_RETX - RENO_FAST_RETX - NEWRENO_FAST_RETX -
                FAST_RECOVERY {lappend fast [trim $time]}
            }
        }
        close $in
    }
    if {[llength $rto] != [$tcp set nrexmit_]} {
        error "timeouts: [llength $rto] seen, [$tcp set nrexmit_] counted"
    }
    if {$opt(keep) ne ""} {
        file rename -force $tracefile $opt(keep).tr
        file rename -force $varfile $opt(keep).var
    } else {
        file delete $tracefile $varfile
    }
    file delete $eventfile
    set reached {}
    foreach g [lsort -integer [array names goal]] {
        lappend reached "\"$g\":$goal($g)"
    }
    puts [string cat "{\"variant\":\"$opt(variant)\",\"drops\":\[$opt(drops)\]," \
        "\"bugfix\":$opt(bugfix),\"window\":$opt(window)," \
        "\"duration\":$opt(duration),\"delack\":$opt(delack)," \
        "\"seed\":$opt(seed),\"phase\":$phase,\"delivered\":$next,\"reached\":{[join $reached ,]}," \
        "\"dropped\":\[[join $dropped ,]\]," \
        "\"rto\":\[[join $rto ,]\],\"fast\":\[[join $fast ,]\]," \
        "\"ssthresh\":\[[join $ssthresh ,]\],\"cwnd\":\[[join $cwnd ,]\]," \
        "\"sends\":\[[join $sends ,]\]}"]
    exit 0
}

$ns run
