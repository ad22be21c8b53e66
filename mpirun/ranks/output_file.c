/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/base/error.h"

int tern_output_file_open(const struct tern_options *options, int ranks, int rank, int which)
{
    int digits = 1;
    for (int n = ranks - 1; n >= 10; n /= 10)
        digits++;
    static const char *const names[] = {"", "stdout", "stderr"};
    static const char *const short_names[] = {"", "out", "err"};
    char path[4096], job[16] = "";
    if (!options->output_no_job)
        snprintf(job, sizeof job, "/%d", options->job_number);
    int length = options->output_plain
                     ? snprintf(path, sizeof path, "%s.%0*d.", options->output_dir, digits, rank)
                     : snprintf(path, sizeof path, "%s%s/rank.%0*d/", options->output_dir,
                                job, digits, rank);
    for (char *at = path + 1; length < (int)sizeof path - 10 && (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(path, 0777);
        *at = '/';
    }
    if (length >= (int)sizeof path - 10)
        return tern_error(TERN_ERR_OTHER, "--output-filename: the name is too long");
    snprintf(path + length, sizeof path - (size_t)length, "%s",
             options->output_plain ? short_names[which] : names[which]);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return tern_error(TERN_ERR_OTHER, "cannot write %s: %s", path, strerror(errno));
    return fd;
}

int tern_output_file_write(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        data += n;
        size -= n;
    }
    return 0;
}
