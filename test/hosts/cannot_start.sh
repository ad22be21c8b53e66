#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What keeps a job from starting on one of four hosts is said by name, in ssh's own words where it is ssh's, and nothing is left. What
# only keeps hosts from starting each other does not matter.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=1"; done >hosts

# refused WHAT REGEX ARGUMENT...: the regex follows "mpirun: "
refused() {
    local what=$1 regex=$2
    shift 2
    run "$@" sleep "$mark"
    [ "$rc" != 0 ] || complain "$what: exit status 0"
    has "$what" err "^mpirun: $regex"
    eventually "$what: nothing is left" none_left || leftovers
}
refused "wrong port" 'cannot start on host n2: ssh: connect to host n2 port 2222: Connection refused' \
    --mca plm_rsh_args "-F $scratch/ssh_config -p 2222" --host n1,n2
refused "a password is wanted" 'cannot start on host n3: .*Permission denied \(password\)' \
    --mca plm_rsh_args "-F $scratch/ssh_config -p 2201" --host n1,n3
grep -v IdentityFile ssh_config >no_key_config
refused "no key" 'cannot start on host n3: .*Permission denied \(publickey\)' --mca plm_rsh_args "-F $scratch/no_key_config" --host n1,n3
grep -v n3, known_hosts >few_known_hosts
sed 's/UserKnownHostsFile.*/UserKnownHostsFile few_known_hosts/' ssh_config >few_config
refused "a host whose key is not known" 'cannot start on host n3: .*Host key verification failed' \
    --mca plm_rsh_args "-F $scratch/few_config" --hostfile hosts
refused "no such name" 'cannot start on host nobody: ssh: Could not resolve hostname nobody' --host n1,nobody
refused "an address that swallows everything" 'cannot start on host 10.77.0.99: .*(timed out|no answer within)' \
    --mca launch_timeout 3 --host n1,10.77.0.99
refused "two hosts at once" 'cannot start on host (nobody: ssh: Could|n2: ssh: connect)' \
    --mca plm_rsh_args "-F $scratch/ssh_config -p 2222" --host n1,n2,nobody

# what is started there
refused "no mpirun there" 'cannot start on host n2: .*/none/mpirun' --launch-agent /none/mpirun --host n1,n2
agent_on_3() { # does this in place of what it should
    printf '#!/bin/bash\n[ $(hostname) != n3 ] || { %s; }\nexec %s "$@"\n' "$1" "$MPIRUN" >agent
    chmod +x agent
}
agent_on_3 'echo TERN-AGENT 0.0.1 x86_64; exec sleep 100'
refused "another version" "cannot start on host n3: its mpirun \\($scratch/agent\\) is version 0\\.0\\.1 x86_64, but this one is version " \
    --launch-agent "$scratch/agent" --hostfile hosts
agent_on_3 'exec sleep 100'
refused "no answer" 'cannot start on host n3: no answer within 10 s' --mca launch_timeout 10 --launch-agent "$scratch/agent" --hostfile hosts
agent_on_3 'exec yes'
refused "an endless answer" 'cannot start on host n3: ' --launch-agent "$scratch/agent" --hostfile hosts
agent_on_3 'echo no such licence >&2; exit 3'
refused "its words" 'cannot start on host n3: no such licence' --launch-agent "$scratch/agent" --hostfile hosts
for ((host = 1; host <= 3; host++)); do on $host cp /bin/true /tmp/there; done
run --hostfile hosts /tmp/there
is "no program on one host" "$rc" 127
has "no program on one host" err '^mpirun: host n4: .*/tmp/there'
for ((host = 1; host <= 3; host++)); do on $host rm /tmp/there; done
eventually "no program on one host: nothing is left" none_left || leftovers

# hosts start each other, one after the other, but not if they cannot
on 1 cp ssh_config /run/ssh_config
run --mca plm_rsh_args "-F /run/ssh_config" --hostfile hosts --mca launch_width 1 hostname
is "hosts without keys for each other" "$rc $(sort out | tr '\n' ',')$(cat err)" "0 n1,n2,n3,n4,"
on 2 ip neigh replace 10.77.0.3 lladdr 02:00:00:00:00:99 nud permanent dev eth0
run --hostfile hosts --mca launch_width 1 hostname
is "hosts that do not hear each other" "$rc $(sort out | tr '\n' ',')$(cat err)" "0 n1,n2,n3,n4,"
finish
