/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOBS_PORT_CALL_H
#define TERN_MPIRUN_JOBS_PORT_CALL_H

/* Answers to processes that wait at a port (lib/util/net/port.h). */

#include <stdbool.h>

#include "lib/util/net/question.h"

/* An answer: its kind, a TERN_ERR_* if it is a refusal, and a text. */
struct tern_answer_text {
    enum tern_line_kind kind;
    int error;
    char *text; /* owned */
};

/* Sends an answer to a port, from the loop. Nobody learns whether it arrives: the process that
 * waits there may have ended. Copies the answer. */
void tern_port_answer(const char *port, const struct tern_answer_text *answer);
/* Sends an answer to a port. Blocks until it has arrived, for at most `limit_ms`. Returns true if
 * it has arrived. */
bool tern_port_answer_now(const char *port, const struct tern_answer_text *answer, int limit_ms);

/* Returns the answer as it travels, and its length. The caller frees the bytes. */
char *tern_answer_pack(const struct tern_answer_text *answer, size_t *ret_length);

#endif
