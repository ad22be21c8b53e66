/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/pmix/pmix_notify.h"

#include <pmix.h>
#include <stdlib.h>

#include "mpirun/serve/pmix/pmix_bytes.h"

struct notice {
    pmix_info_t *infos;
    size_t count;
};

static void notified(pmix_status_t status, void *context)
{
    (void)status;
    struct notice *notice = context;
    tern_pmix_free_infos(notice->infos, notice->count);
    free(notice);
}

void tern_pmix_notify(const struct tern_frame *frame)
{
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    pmix_proc_t source;
    tern_pmix_read_proc(&reader, &source);
    pmix_data_range_t range = (pmix_data_range_t)tern_read_number(&reader);
    struct notice *notice = tern_must_alloc(sizeof *notice);
    notice->infos = tern_pmix_read_array(&reader, sizeof *notice->infos, PMIX_INFO, &notice->count);
    if (reader.bad || PMIx_Notify_event(frame->value, &source, range, notice->infos, notice->count,
                                        notified, notice) != PMIX_SUCCESS)
        notified(PMIX_ERROR, notice);
}
