/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/data/whole_file.h"

#include <errno.h>
#include <string.h>

#include "lib/util/base/log.h"

bool tern_mc_end_file(FILE *file, const char *path)
{
    bool failed = !file;
    if (file) {
        errno = 0;
        failed = ferror(file);
        failed |= fclose(file) != 0;
    }
    if (failed)
        tern_log("cannot write %s: %s; --out names another directory", path,
                 errno ? strerror(errno) : "a part of it is missing");
    return !failed;
}

bool tern_mc_output_is_whole(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    tern_log("cannot write to standard output: %s",
             errno ? strerror(errno) : "a part is missing");
    return false;
}
