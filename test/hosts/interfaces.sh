#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Which network interfaces carry messages, on hosts with two good ones among some that lead nowhere: without a parameter all good
# ones, with btl_tcp_if_include and btl_tcp_if_exclude those that they leave, by name and by subnet.
HOSTS=2 NICS=2
. "$(dirname "$0")/hosts.bash"
"$MPICC" -O1 -o bytes "$here/../hosts/bytes.c" || { echo "cannot build it"; exit 1; }
printf 'n1 slots=1\nn2 slots=1\n' >hosts

# Megabytes that interface $1 of n1 has sent and received
megabytes() { on 1 awk -v name="$1:" '$1 == name { print int(($2 + $10) / 1000000) }' /proc/net/dev; }

# carried ARGUMENT...: the good interfaces by which more than a few of the 256 MB went
carried() {
    local first second
    first=$(megabytes eth0) second=$(megabytes eth1)
    run --hostfile hosts "$@" ./bytes
    echo "$rc$([ $(($(megabytes eth0) - first)) -lt 9 ] || echo " eth0")$([ $(($(megabytes eth1) - second)) -lt 9 ] || echo " eth1")"
}
is "no parameter" "$(carried)" "0 eth0 eth1"
is "and not a word" "$(cat err)" ""
is "include by name" "$(carried --mca btl_tcp_if_include eth1)" "0 eth1"
is "include by subnet" "$(carried --mca btl_tcp_if_include 10.77.0.0/16)" "0 eth0"
is "include both" "$(carried --mca btl_tcp_if_include eth1,10.77.0.0/24)" "0 eth0 eth1"
is "include what no host has, too" "$(carried --mca btl_tcp_if_include ib0,eth1)" "0 eth1"
is "exclude by name" "$(carried --mca btl_tcp_if_exclude lo,eth0)" "0 eth1"
is "exclude by subnet" "$(carried --mca btl_tcp_if_exclude 127.0.0.0/8,10.88.0.0/24,172.17.0.0/16)" "0 eth0"
is "several links" "$(carried --mca btl_tcp_links 2)" "0 eth0 eth1"

# --display paths says so
run --hostfile hosts --display paths --mca btl_tcp_if_include eth1 ./bytes
has "path from n1" err '^tern: rank 0 on host n1: path to rank 1: tcp eth1 10\.88\.0\.1 -> 10\.88\.0\.2$'
has "path from n2" err '^tern: rank 1 on host n2: path to rank 0: tcp eth1 10\.88\.0\.2 -> 10\.88\.0\.1$'
is "a line for each path" "$(wc -l <err)" 2
run --hostfile hosts --display paths ./bytes
has "both interfaces" err 'rank 1: tcp eth([01]) 10\.(77|88)\.0\.1 -> 10\.(77|88)\.0\.2, eth([01]) 10\.(77|88)\.0\.1 -> 10\.(77|88)\.0\.2$'

# filters that leave nothing, or nothing that reaches the other host
wrong() {
    local what=$1 regex=$2
    shift 2
    run --hostfile hosts "$@" ./bytes
    [ "$rc" != 0 ] || complain "$what: exit status 0"
    has "$what" err "$regex"
}
own='it has docker0 \(172\.17\.0\.1/16\), lost0 \(10\.99\.0\.[12]/24\), eth0 \(10\.77\.0\.[12]/24\), eth1 \(10\.88\.0\.[12]/24\), lo \(127\.0\.0\.1/8\)'
wrong "no such interface" "btl_tcp_if_include \(.eth7.\) permits no network interface of host n[12]; $own" \
    --mca btl_tcp_if_include eth7
wrong "one that is down" "btl_tcp_if_include \(.idle0.\) permits no network interface of host n[12]" --mca btl_tcp_if_include idle0
wrong "all are excluded" "btl_tcp_if_exclude \(.*\) permits no network interface of host n[12]; $own" \
    --mca btl_tcp_if_exclude 10.0.0.0/8,172.16.0.0/12,127.0.0.0/8
wrong "the wrong one" 'cannot connect to rank [01] on host n[12]: 10\.99\.0\.[12]:[0-9]+ \(lost0\): ' --mca btl_tcp_if_include lost0
wrong "our own" 'cannot connect to rank [01] on host n[12]: 172\.17\.0\.1:[0-9]+ \(docker0\): ' --mca btl_tcp_if_include docker0
wrong "no subnet" 'btl_tcp_if_include: .10\.77\.0\.0/33. is not a subnet' --mca btl_tcp_if_include 10.77.0.0/33
wrong "both" 'btl_tcp_if_include .option. and btl_tcp_if_exclude .option. are both set' --mca btl_tcp_if_include eth0 --mca btl_tcp_if_exclude eth1
finish
