/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_EVENTS_H
#define TERN_MPIRUN_EVENTS_H

/* What happens to a job on all its hosts, and in its output. All functions run on mpirun's loop. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/ranks/output.h"
#include "mpirun/wire/frame.h"

/* Prepares for the job, before any other function here. `job` must live as long as the process. */
void tern_events_open(const struct tern_job *job);
/* Takes an answer of this machine's guardian. */
void tern_events_answered(const struct tern_guardian_message *answer);
/* Takes a frame of an agent. */
void tern_events_received(const struct tern_frame *frame);
/* Listener for what happens to the ranks' output. */
extern const struct tern_output_listener tern_events_output;
/* Writes a message that `stream`, "output" or "error", is closed, so what the ranks write there is
 * lost. */
void tern_events_say_closed(const char *stream);

#endif
