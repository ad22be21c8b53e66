/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; exit: nonzero; output: rank [01] of this job is process [0-9]+ already */
/* Two MPI programs in the place of one rank at the same time would take each other's messages: they are told. */
#include "check.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
    if (argc > 1) {
        start(&argc, &argv);
        sleep(1000); /* until the job is ended */
        return end();
    }
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            execl(argv[0], argv[0], "program", (char *)NULL);
            _exit(127);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}
