/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LOG_H
#define TERN_LOG_H

/* Messages to people, on standard error, one write(2) per message so that lines of several
 * processes do not mix. Every message begins with `tern: ` (or the name given to tern_log_name) and
 * says what was found, what was expected and how to cure it. */

#include <stdbool.h>

/* Prefix of every message, e.g. "mpirun" or "tern rank 3 on n7". Kept as a copy. */
void tern_log_name(const char *name);

/* Says one message (a newline is added). What a terminal would take for a command, or for another
 * line, is shown as \xNN or \n: a message may hold words of others. Never fails, does not allocate,
 * keeps errno. */
void tern_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
