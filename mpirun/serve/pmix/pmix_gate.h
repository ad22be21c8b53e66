/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_PMIX_GATE_H
#define TERN_MPIRUN_SERVE_PMIX_PMIX_GATE_H

#include <stdbool.h>

/* Asks the kernel which user owns the other end of `connection`, a TCP connection over the loopback
 * interface. Returns true if the other end is a living socket of this process's user; false if it
 * is not, or if the owner cannot be found out. */
bool tern_pmix_gate_admits(int connection);

/* Returns true if libpmix's calls of accept() reach the gate in this process. */
bool tern_pmix_gate_stands(void);

#endif
