#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A prolog for Slurm (Prolog= in slurm.conf) that checks this node before each job: some seconds. Where it ends with another status
# than 0, Slurm drains the node and starts the job elsewhere. A node that is too busy to be measured is not drained.
#     MPICHECK=/opt/tern/bin/mpicheck
MPICHECK=${MPICHECK:-mpicheck}

# mpirun must not take this for a job of several nodes
for name in $(env | sed -n 's/^\(SLURM_[A-Z0-9_]*\)=.*/\1/p'); do unset "$name"; done

page=$("$MPICHECK" --host-only --quiet 2>&1)
case $? in
    0 | 1 | 3) exit 0 ;;
esac
printf '%s\n' "$page" >&2
exit 1
