/* SPDX-License-Identifier: BSD-3-Clause */
/* $1 lines that name their rank. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    int lines = argc > 1 ? atoi(argv[1]) : 1;
    for (int line = 0; line < lines; line++)
        printf("line %d of %s\n", line, rank ? rank : "nobody");
    return 0;
}
