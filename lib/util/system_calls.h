/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SYSTEM_CALLS_H
#define TERN_SYSTEM_CALLS_H

/* A sandbox (seccomp) may refuse any system call. Where a call cannot fail otherwise, or where it
 * is made by another library, a refusal would end in a crash, in an endless loop, or in waiting for
 * ever. So each of them is tried before it is needed. */

enum tern_system_calls {
    TERN_CALLS_OF_LAUNCHER = 1, /* mpirun's, an agent's and the guardian's own, and hwloc's */
    TERN_CALLS_OF_SERVER = 2,   /* those of a PMIx server */
    TERN_CALLS_OF_RANK = 4,     /* of a rank that our launcher has started */
    TERN_CALLS_OF_TCP = 8,      /* of a rank that is reached by TCP */
};

/* Tries each system call that `who` needs, in a way that changes nothing, with descriptors of its
 * own. Returns 0, or TERN_ERR_OTHER with a text that names the first call that is refused (EPERM,
 * EACCES or ENOSYS). */
int tern_system_calls_try(enum tern_system_calls who);

#endif
