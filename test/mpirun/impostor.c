/* SPDX-License-Identifier: BSD-3-Clause */
/* A process of another user that knows all about a rank and states that rank's user id. Takes the rank's environment and
 * USER GROUP; prints "connected" or PMIx's reason. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uid_t user;
static gid_t group;

/* libpmix states what these return. */
uid_t geteuid(void)
{
    return user;
}
gid_t getegid(void)
{
    return group;
}

int main(int argc, char **argv)
{
    pmix_proc_t self;
    if (argc != 3)
        return 2;
    user = (uid_t)atol(argv[1]);
    group = (gid_t)atol(argv[2]);
    pmix_status_t status = PMIx_Init(&self, NULL, 0);
    printf("%s\n", status == PMIX_SUCCESS ? "connected" : PMIx_Error_string(status));
    fflush(stdout);
    _exit(status == PMIX_SUCCESS ? 0 : 1);
}
