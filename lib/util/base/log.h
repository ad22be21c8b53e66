/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LOG_H
#define TERN_LOG_H

/* Messages to people, on standard error. Each message is one write(2), so that lines of several
 * processes do not mix. Each message begins with `tern: ` (or the name given to tern_log_name) and
 * says what was found, what was expected, and how to cure the fault. */

#include <stdbool.h>

/* Sets the prefix of all messages, such as "mpirun" or "tern rank 3 on n7". Keeps a copy of
 * `name`. */
void tern_log_name(const char *name);

/* Gives all messages to `take` first. It returns true if the message is not to be printed. NULL:
 * prints all messages. */
void tern_log_divert(bool (*take)(const char *text));

/* Prints one message and a newline. A message may contain text from others; characters that a
 * terminal would obey, and line breaks, are shown as \xNN or \n. Never fails, does not allocate,
 * keeps errno. */
void tern_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
