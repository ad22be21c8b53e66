/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SYSTEM_CALLS_H
#define TERN_SYSTEM_CALLS_H

/* A sandbox (seccomp) may refuse any system call. Some calls cannot fail otherwise, and some are
 * made by other libraries. A refusal there would end in a crash, an endless loop or an endless
 * wait. So the library tries each of these calls before it is needed. */

/* Groups of system calls, by the process that needs them. */
enum tern_system_calls {
    TERN_CALLS_OF_LAUNCHER = 1, /* mpirun, an agent and the guardian, with hwloc */
    TERN_CALLS_OF_SERVER = 2,   /* a PMIx server */
    TERN_CALLS_OF_RANK = 4,     /* a rank that our launcher has started */
    TERN_CALLS_OF_TCP = 8,      /* a rank that peers reach by TCP */
};

/* Tries each system call that `who` needs, on descriptors of its own and in a way that changes
 * nothing. Returns 0, or TERN_ERR_OTHER with a text that names the first refused call (EPERM,
 * EACCES or ENOSYS). */
int tern_system_calls_try(enum tern_system_calls who);

#endif
