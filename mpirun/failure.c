/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/failure.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct {
    int status;            /* exit status, once something has failed; 0 before */
    char *message;         /* of the first failure, or NULL */
    bool output_lost;      /* the job goes on, but its exit status is not 0 */
    bool passed_on[NSIG];  /* signals that users sent and mpirun passed on */
    bool told_above[NSIG]; /* those of them that came from the mpirun that has started this one */
} failure;

void tern_failure_record(int status, const char *format, ...)
{
    if (failure.status)
        return;
    char *text;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    failure.status = status;
    failure.message = length < 0 ? NULL : text;
}

void tern_failure_record_silently(int status)
{
    if (!failure.status)
        failure.status = status;
}

bool tern_failure_is_recorded(void)
{
    return failure.status != 0;
}

void tern_failure_note_lost_output(void)
{
    failure.output_lost = true;
}

int tern_failure_status(const char **ret_message)
{
    *ret_message = failure.message;
    return failure.status ? failure.status : failure.output_lost;
}

/* ---- signals ---- */

void tern_failure_note_signal(int number, bool told_above)
{
    if (number <= 0 || number >= NSIG)
        return;
    failure.passed_on[number] = true;
    failure.told_above[number] |= told_above;
}

bool tern_failure_has_signal(int number)
{
    return number > 0 && number < NSIG && failure.passed_on[number];
}

bool tern_failure_is_ending(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

void tern_failure_record_signal(int number, const char *what)
{
    if (failure.told_above[number])
        tern_failure_record_silently(128 + number);
    else
        tern_failure_record(128 + number, "mpirun received signal %d (%s)%s", number,
                            strsignal(number), what);
}

bool tern_failure_blame_signal(int number)
{
    if (!tern_failure_is_ending(number) || !tern_failure_has_signal(number))
        return false;
    tern_failure_record_signal(number, ", passed it on to the ranks, and ended the job");
    return true;
}
