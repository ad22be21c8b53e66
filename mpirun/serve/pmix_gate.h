/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_GATE_H
#define TERN_MPIRUN_SERVE_PMIX_GATE_H

#include <stdbool.h>

/* Asks the kernel who owns the other end of `connection`, a TCP connection over the loopback
 * interface. Returns true if it is a living socket of this process's user; false also if that
 * cannot be found out. */
bool tern_pmix_gate_admits(int connection);

/* Returns true if libpmix's calls of accept() reach the gate in this process. */
bool tern_pmix_gate_stands(void);

#endif
