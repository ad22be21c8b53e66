/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/jobs/rank_asks.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/net/question.h"
#include "mpirun/base/strings.h"
#include "mpirun/jobs/children.h"
#include "mpirun/jobs/services.h"
#include "mpirun/jobs/spawned.h"

enum { QUESTION_MOST = 64 << 20 }; /* bytes; longer ones are not Tern's */

void tern_asked(const char *question)
{
    if (tern_spawned_ask(question))
        return;
    char *what = tern_question_find(question, "ask");
    char *port = tern_question_find(question, "port");
    if (what && strcmp(what, "spawn") == 0) {
        tern_children_start(question);
    } else if (what && port) {
        struct tern_answer_text answer = tern_services_answer(question);
        tern_port_answer(port, &answer);
        free(answer.text);
    }
    free(what);
    free(port);
}

void tern_asked_part(int rank, int ranks, const char *part, bool last)
{
    static char **parts; /* by rank: what has arrived of its question */
    if (!parts)
        parts = tern_must_alloc((size_t)ranks * sizeof *parts);
    const char *before = parts[rank] ? parts[rank] : "";
    if (strlen(before) > QUESTION_MOST)
        return;
    char *whole = tern_must_format("%s%s", before, part);
    free(parts[rank]);
    parts[rank] = last ? NULL : whole;
    if (!last)
        return;
    tern_asked(whole);
    free(whole);
}
