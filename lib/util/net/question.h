/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_QUESTION_H
#define TERN_QUESTION_H

/*
 * What a process asks of mpirun: to start further processes, or about published names. A question
 * is a text of lines WORD=VALUE; a backslash or a line break in a value is written \\ or \n. It
 * contains no 0 byte. The answer arrives at a port (lib/util/net/port.h) that the question names,
 * so it needs no way back through mpirun's agents.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 *   ask=spawn                          ask=publish, lookup or unpublish
 *   port=NAME   for the answer         port=NAME
 *   wdir=DIR    of the root            service=SERVICE
 *   program=COMMAND, then for it:      name=NAME   of the service's port; not for lookup
 *     arg=WORD ...
 *     np=NUMBER
 *     key=KEY, value=VALUE ...   its info
 *
 * mpirun/jobs/children.c lists what mpirun adds for the mpirun that starts the processes.
 */

/* A question that is being written. Zeroed, it is empty. */
struct tern_question {
    char *text; /* closed by a 0 byte */
    size_t length, room;
    bool failed; /* there was no memory */
};

/* Appends a line. */
void tern_question_add(struct tern_question *question, const char *word, const char *value);
/* Appends a line whose value is a number. */
void tern_question_add_number(struct tern_question *question, const char *word, long value);
/* Frees the text. The question is empty afterwards. */
void tern_question_free(struct tern_question *question);

/* Reads the line at *at, and moves *at to the next one. Changes the text: word and value are made
 * strings in place. Returns false at the end, and at a line that is none. */
bool tern_question_next(char **at, char **ret_word, char **ret_value);
/* Returns the value of the first line of that word, as a copy that the caller frees. NULL: there is
 * none, or no memory. */
char *tern_question_find(const char *text, const char *word);

/* The first bytes of each message on a line between two jobs, or from mpirun. */
enum tern_line_kind {
    TERN_LINE_OFFER = 0x74723031, /* an offer of a group (lib/mpi/dynamic/bridge.c) */
    TERN_LINE_REFUSAL, /* mpirun cannot do what was asked: a text for people follows */
    TERN_LINE_ANSWER,  /* the answer of mpirun: a text follows */
    TERN_LINE_QUESTION, /* a question to the mpirun that keeps the names of several jobs */
};
struct tern_line_head {
    uint32_t kind; /* enum tern_line_kind */
    int32_t error; /* TERN_LINE_REFUSAL: a TERN_ERR_*, or 0 */
};

/* Names the variable with the port of the processes that started a job. */
#define TERN_PARENT "TERN_PARENT"

#endif
