/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CRASH_H
#define TERN_CRASH_H

/*
 * Says where a rank has crashed. When SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT ends the process,
 * a block of text with the signal, the address and the calls goes to our launcher, or to standard
 * error if there is none. The process then ends by the signal as it would have, with its core file.
 * A fault of an instruction that reads a handle is no crash: see lib/util/base/handle.h.
 */

#include <stdbool.h>

/* Installs the handlers, unless the parameter crash_report forbids them. A signal for which the
 * program has a handler, or which it ignores, is left alone. A handler that the program installs
 * later replaces ours. Call it once, after tern_rte_init. */
void tern_crash_watch(void);

/* If set, tells whether this process may have device memory; safe in a signal handler. */
extern bool (*tern_crash_may_be_device)(void);

#endif
