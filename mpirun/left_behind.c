/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/left_behind.h"

#include <signal.h>
#include <stdio.h>

#include "lib/util/base/text.h"
#include "mpirun/ranks/output.h"

void tern_left_behind_say_wait(void)
{
    tern_output_say("all ranks have ended, but processes that they left in the background hold "
                    "their output open; mpirun waits until these end (Ctrl-C ends them)");
}

/* Says what happens to processes that are about to be named: they had `grace_s` to end, and get
 * signal `number`. */
static void say_why(int number, double grace_s)
{
    if (number == SIGTERM)
        tern_output_say("all ranks have ended, but processes that they left in the background have "
                        "not, within %g s; these get SIGTERM now (leftover_grace_ms gives them "
                        "more time):",
                        grace_s);
    else
        tern_output_say("processes that the ranks left in the background have not ended within "
                        "%g s after SIGTERM, and were killed; what they had not written is lost:",
                        grace_s);
}

void tern_left_behind_name(const struct tern_job *job, int host,
                           const struct tern_guardian_message *left, int64_t patience_ms)
{
    enum { NAMED_MOST = 8 };
    static int named, number;
    if (left->value != number) {
        number = left->value;
        named = 0;
    }
    if (!named && number)
        say_why(number, (double)patience_ms / 1000);
    if (named++ >= NAMED_MOST) {
        if (named == NAMED_MOST + 1)
            tern_output_say("  and more");
        return;
    }
    const char *name = host >= 0 && host < job->host_count ? job->hosts[host].name : "this one";
    char rank[40] = "", command[1200];
    if (left->rank >= 0)
        snprintf(rank, sizeof rank, " of rank %d", left->rank);
    tern_text_make_printable(left->text, false, command, sizeof command);
    tern_output_say("  process %d%s on host %s: %.200s", (int)left->pid, rank, name, command);
}
