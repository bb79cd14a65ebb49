# One run of the CBR report's topology in ns-2; prints one JSON line.
#
#   N1 --.                .-- N4
#         N2 ---------- N3            every link 10 Mbit/s, 10 ms, duplex
#   N5 --'                '-- N6
#
#   ns cbr.tcl flow1=reno flow2=vegas cbr=6 seed=3 ...
#
# All arguments are key=value (the defaults are below); red.NAME=VALUE sets
# the RED parameter NAME_.  Definitions of the results: data/README.md.

set tcl_precision 0
array set opt {
    flow1 reno      flow2 none
    cbr 0           cbrstart 0      cbrstop -1      random 0
    window 20       maxcwnd 0       duration 10
    queue DropTail  limit 10
    seed 1          jitter 0        series 0
    start1 0        start2 0        delay 10ms
    keep {}
}
array set red {}
foreach arg $argv {
    if {![regexp {^([A-Za-z0-9_.]+)=(.*)$} $arg -> key value]} {
        puts stderr "not key=value: $arg"
        exit 2
    }
    if {[regexp {^red\.(.+)$} $key -> name]} {
        set red($name) $value
    } elseif {[info exists opt($key)]} {
        set opt($key) $value
    } else {
        puts stderr "unknown argument: $key"
        exit 2
    }
}
switch -- [string tolower $opt(queue)] {
    droptail {set opt(queue) DropTail}
    red {set opt(queue) RED}
    default {puts stderr "queue is DropTail or RED"; exit 2}
}

array set agents {
    tahoe Agent/TCP           reno Agent/TCP/Reno    newreno Agent/TCP/Newreno
    sack Agent/TCP/Sack1      vegas Agent/TCP/Vegas
}
set payload 1000

# A seed far from small integers: the generator's first numbers are
# proportional to the seed, so seeds 1, 2, 3 would start almost alike.
proc spread {seed salt} {
    set x [expr {(wide($seed) * 1000003 + $salt * 7919 + 12345) % 2147483647}]
    if {$x <= 0} {incr x 2147483646}
    for {set i 0} {$i < 5} {incr i} {
        set x [expr {(wide($x) * 16807) % 2147483647}]
    }
    return $x
}

$defaultRNG seed [spread $opt(seed) 1]
set offsets [new RNG]
$offsets seed [spread $opt(seed) 2]
# Drawn in this order whatever is used, so that all variants of one seed
# get the same offsets.
foreach what {start1 start2 cbrstart} {
    set opt($what) [expr {$opt($what) + [$offsets uniform 0 $opt(jitter)]}]
}
if {$opt(cbrstop) < 0} {set opt(cbrstop) $opt(duration)}

foreach name [array names red] {Queue/RED set ${name}_ $red($name)}

set ns [new Simulator]
for {set i 1} {$i <= 6} {incr i} {set n($i) [$ns node]}
foreach {a b} {1 2 5 2 3 4 3 6} {
    $ns duplex-link $n($a) $n($b) 10Mb $opt(delay) DropTail
}
$ns duplex-link $n(2) $n(3) 10Mb 10ms $opt(queue)
$ns queue-limit $n(2) $n(3) $opt(limit)
$ns queue-limit $n(3) $n(2) $opt(limit)

set tmp /tmp
if {[info exists env(TMPDIR)]} {set tmp $env(TMPDIR)}
set tracefile $tmp/ns2-cbr-[pid].tr
set redfile $tmp/ns2-cbr-[pid].red
set trace [open $tracefile w]

# Flow k: source node, sink node.  Node ids in the trace start at 0.
set flows {}
foreach {k src dst} {1 1 4 2 5 6} {
    set variant $opt(flow$k)
    if {$variant eq "none"} continue
    if {![info exists agents($variant)]} {
        puts stderr "unknown variant: $variant"
        exit 2
    }
    lappend flows $k
    set tcp($k) [new $agents($variant)]
    $tcp($k) set fid_ $k
    $tcp($k) set window_ $opt(window)
    $tcp($k) set maxcwnd_ $opt(maxcwnd)
    set sink [expr {$variant eq "sack" ? "Agent/TCPSink/Sack1" : "Agent/TCPSink"}]
    set rcv($k) [new $sink]
    $ns attach-agent $n($src) $tcp($k)
    $ns attach-agent $n($dst) $rcv($k)
    $ns connect $tcp($k) $rcv($k)
    set ftp($k) [new Application/FTP]
    $ftp($k) attach-agent $tcp($k)
    $ns at $opt(start$k) "$ftp($k) start"
    $ns trace-queue $n($src) $n(2) $trace
    $ns trace-queue $n(2) $n($src) $trace
    $ns trace-queue $n(3) $n($dst) $trace
    set srcid($k) [expr {$src - 1}]
    set dstid($k) [expr {$dst - 1}]
    # First data sequence number: 1 after the SYN, 0 for Vegas, which has none.
    set base($k) [expr {$variant eq "vegas" ? 0 : 1}]
}
$ns trace-queue $n(2) $n(3) $trace

if {$opt(cbr) > 0} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 1000
    $udp set fid_ 9
    set null [new Agent/Null]
    $ns attach-agent $n(2) $udp
    $ns attach-agent $n(3) $null
    $ns connect $udp $null
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ 1000
    $cbr set rate_ $opt(cbr)Mb
    $cbr set random_ $opt(random)
    $cbr attach-agent $udp
    $ns at $opt(cbrstart) "$cbr start"
    $ns at $opt(cbrstop) "$cbr stop"
}

set queue [[$ns link $n(2) $n(3)] queue]
if {$opt(queue) eq "RED"} {
    set redtrace [open $redfile w]
    $queue attach $redtrace
    $queue trace ave_
    $queue trace prob1_
}

proc jstr {x} {return "\"$x\""}
proc jnum {x digits} {
    if {$x eq "null"} {return null}
    return [format %.${digits}f $x]
}
proc mean {sum count digits} {
    if {$count == 0} {return null}
    return [format %.${digits}f [expr {$sum / $count}]]
}

# Read the trace once.  Times in it are exact to a microsecond.
proc evaluate {} {
    global opt flows tcp trace tracefile srcid dstid base payload
    global cbrcount result
    close $trace
    foreach k $flows {
        foreach c {sent dropped delivered retrans single singlesum first firstsum} {
            set ${c}($k) 0
        }
        set unacked($k) $base($k)   ;# next sequence number to be ACKed
        set owner($srcid($k)) $k
        set owner($dstid($k)) $k
    }
    array set cbrcount {sent 0 received 0 dropped 0}
    set slots [expr {$opt(series) > 0 ? int(ceil($opt(duration) / double($opt(series)) - 1e-9)) : 0}]
    foreach k $flows {
        for {set i 0} {$i < $slots} {incr i} {
            set bytes($k,$i) 0
            set rttsum($k,$i) 0.0
            set rttcount($k,$i) 0
        }
    }
    set in [open $tracefile r]
    while {[gets $in line] >= 0} {
        set op [string index $line 0]
        if {$op eq "-"} continue
        lassign $line op time from to type size flags fid src dst seq
        switch -- $type {
            tcp {
                if {$seq < $base($fid)} continue
                if {$op eq "d"} {
                    incr dropped($fid)
                } elseif {$op eq "+"} {
                    if {$from == $srcid($fid)} {
                        incr sent($fid)
                        if {[info exists born($fid,$seq)]} {
                            incr retrans($fid)
                            set again($fid,$seq) 1
                        } else {
                            set born($fid,$seq) $time
                        }
                    }
                } elseif {$op eq "r" && $to == $dstid($fid)} {
                    if {[info exists got($fid,$seq)]} continue
                    set got($fid,$seq) 1
                    incr delivered($fid)
                    if {$slots} {
                        set i [expr {min(int($time / $opt(series)), $slots - 1)}]
                        incr bytes($fid,$i) $payload
                    }
                }
            }
            ack {
                if {$op ne "r" || $to != $srcid($fid)} continue
                while {$unacked($fid) <= $seq} {
                    set s $unacked($fid)
                    set rtt [expr {($time - $born($fid,$s)) * 1000.0}]
                    incr first($fid)
                    set firstsum($fid) [expr {$firstsum($fid) + $rtt}]
                    if {![info exists again($fid,$s)]} {
                        incr single($fid)
                        set singlesum($fid) [expr {$singlesum($fid) + $rtt}]
                    }
                    if {$slots} {
                        set i [expr {min(int($time / $opt(series)), $slots - 1)}]
                        set rttsum($fid,$i) [expr {$rttsum($fid,$i) + $rtt}]
                        incr rttcount($fid,$i)
                    }
                    incr unacked($fid)
                }
            }
            cbr {
                if {$op eq "+" && $from == 1} {
                    incr cbrcount(sent)
                } elseif {$op eq "r" && $to == 2} {
                    incr cbrcount(received)
                } elseif {$op eq "d"} {
                    incr cbrcount(dropped)
                }
            }
        }
    }
    close $in
    if {$opt(keep) ne ""} {
        file rename -force $tracefile $opt(keep)
    } else {
        file delete $tracefile
    }
    set result {}
    foreach k $flows {
        set span [expr {$opt(duration) - $opt(start$k)}]
        set body [list \
            "\"variant\":[jstr $opt(flow$k)]" \
            "\"start\":[jnum $opt(start$k) 6]" \
            "\"delivered_bytes\":[expr {$delivered($k) * $payload}]" \
            "\"goodput_bps\":[jnum [expr {$delivered($k) * $payload * 8.0 / $span}] 1]" \
            "\"sent\":$sent($k)" \
            "\"dropped\":$dropped($k)" \
            "\"drop_rate\":[mean [expr {double($dropped($k))}] $sent($k) 6]" \
            "\"retransmitted\":$retrans($k)" \
            "\"timeouts\":[$tcp($k) set nrexmit_]" \
            "\"rtt_single_ms\":[mean $singlesum($k) $single($k) 3]" \
            "\"rtt_first_ms\":[mean $firstsum($k) $first($k) 3]"]
        if {$slots} {
            set tput {}
            set rtts {}
            for {set i 0} {$i < $slots} {incr i} {
                set from [expr {max($i * $opt(series), $opt(start$k))}]
                set to [expr {min(($i + 1) * $opt(series), $opt(duration))}]
                if {$to <= $from} {
                    lappend tput 0.0
                } else {
                    lappend tput [jnum [expr {$bytes($k,$i) * 8.0 / ($to - $from)}] 0]
                }
                lappend rtts [mean $rttsum($k,$i) $rttcount($k,$i) 2]
            }
            lappend body "\"series_bps\":\[[join $tput ,]\]"
            lappend body "\"series_rtt_ms\":\[[join $rtts ,]\]"
        }
        lappend result "{[join $body ,]}"
    }
}

proc finish {} {
    global ns opt red queue redtrace redfile result cbrcount
    $ns flush-trace
    evaluate
    set args {}
    foreach key {flow1 flow2 queue} {lappend args "\"$key\":[jstr $opt($key)]"}
    lappend args "\"cbrstart\":[jnum $opt(cbrstart) 6]"
    foreach key {cbr cbrstop random window maxcwnd duration limit seed jitter series} {
        lappend args "\"$key\":$opt($key)"
    }
    set fields [list "\"args\":{[join $args ,]}" "\"flows\":\[[join $result ,]\]" \
        "\"cbr\":{\"sent\":$cbrcount(sent),\"received\":$cbrcount(received),\"dropped\":$cbrcount(dropped)}"]
    if {$opt(queue) eq "RED"} {
        close $redtrace
        set peak 0.0
        set prob 0.0
        set in [open $redfile r]
        while {[gets $in line] >= 0} {
            lassign $line what time value
            if {$what eq "a"} {
                if {$value > $peak} {set peak $value}
            } elseif {$value > $prob} {
                set prob $value
            }
        }
        close $in
        file delete $redfile
        set values {}
        foreach v {thresh_ maxthresh_ thresh_queue_ maxthresh_queue_ q_weight_ linterm_ mean_pktsize_} {
            lappend values "\"[string trimright $v _]\":[$queue set $v]"
        }
        foreach v {bytes_ queue_in_bytes_ gentle_ wait_} {
            lappend values "\"[string trimright $v _]\":[expr {[$queue set $v] ? "true" : "false"}]"
        }
        lappend values "\"peak_average\":[jnum $peak 3]" "\"peak_prob\":[jnum $prob 6]"
        lappend fields "\"red\":{[join $values ,]}"
    }
    puts "{[join $fields ,]}"
    exit 0
}

$ns at $opt(duration) finish
$ns run
