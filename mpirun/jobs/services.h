/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOBS_SERVICES_H
#define TERN_MPIRUN_JOBS_SERVICES_H

/* The names that programs publish by MPI_Publish_name. They last as long as this mpirun, or until
 * they are unpublished. PMIx has names of its own (serve/pmix/names.h). */

#include "mpirun/jobs/port_call.h"

/* Answers a question that publishes, looks up or unpublishes a service (lib/util/net/question.h).
 * The caller frees the answer's text. */
struct tern_answer_text tern_services_answer(const char *question);

/* --report-uri: lets other jobs publish and look up names here. Opens a port and writes its name
 * into `file`; "-" and "+": to standard output or error. Returns 0, or TERN_ERR_* with text. */
int tern_services_open(const char *file);
/* Removes the file. */
void tern_services_close(void);

#endif
