#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Publish_name, MPI_Lookup_name and MPI_Unpublish_name: within a job and the jobs it starts, and between jobs of several mpiruns
# and programs without a launcher by --report-uri and --ompi-server. Nobody else gets in.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
cat >names.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int rank;

static const char *class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class == MPI_SUCCESS ? "fine" : class == MPI_ERR_NAME ? "NAME" : class == MPI_ERR_SERVICE ? "SERVICE" :
           class == MPI_ERR_OTHER ? "OTHER" : class == MPI_ERR_PORT ? "PORT" : "?";
}

/* names all | publish | find | child: what each procedure says, or its part of a connection by a name */
int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME] = "";
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Comm inter, parent;
    int sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (strcmp(what, "all") == 0 && rank == 0) {
        printf("%s", class_of(MPI_Lookup_name("a service", MPI_INFO_NULL, found)));
        printf(" %s", class_of(MPI_Publish_name("a service", MPI_INFO_NULL, "a port\nof lines\\")));
        printf(" %s", class_of(MPI_Publish_name("a service", MPI_INFO_NULL, "another")));
        printf(" %s", class_of(MPI_Lookup_name("a service", MPI_INFO_NULL, found)));
        printf(" %s", strcmp(found, "a port\nof lines\\") == 0 ? "same" : found);
        printf(" %s", class_of(MPI_Unpublish_name("a service", MPI_INFO_NULL, "another")));
        printf(" %s", class_of(MPI_Unpublish_name("a service", MPI_INFO_NULL, "a port\nof lines\\")));
        printf(" %s\n", class_of(MPI_Unpublish_name("a service", MPI_INFO_NULL, "a port\nof lines\\")));
    } else if (strcmp(what, "publish") == 0) {
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Publish_name("meet", MPI_INFO_NULL, port);
        }
        if (argc > 2) /* who looks it up is a child */
            MPI_Comm_spawn(argv[0], (char *[]){"find", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    } else if (strcmp(what, "find") == 0) {
        while (rank == 0 && MPI_Lookup_name("meet", MPI_INFO_NULL, port))
            ;
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    }
    if (strcmp(what, "all") != 0) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
        printf("%s %d: %d there\n", what, rank, sum);
        MPI_Comm_disconnect(&inter);
        if (strcmp(what, "publish") == 0 && rank == 0)
            MPI_Unpublish_name("meet", MPI_INFO_NULL, port);
    }
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}
C
"$MPICC" -o names names.c || exit 1
right='NAME fine SERVICE fine same SERVICE fine SERVICE'

run -n 2 ./names all
is "within a job" "$rc $(cat out)" "0 $right"
run -n 1 ./names publish spawns
is "a child looks up" "$rc $(sort out | tr '\n' ' ')" "0 find 0: 1 there publish 0: 1 there "
OMPI_MCA_mpi_initial_errhandler=mpi_errors_return limit ./names all >out 2>err
is "without a launcher there are no names" "$? $(cat out)" "0 NAME SERVICE SERVICE NAME  SERVICE SERVICE SERVICE"

# several mpiruns: one keeps the names
"$MPIRUN" -n 1 --report-uri server sleep "$mark" >kept 2>&1 &
keeper=$!
eventually "there is a server" test -s server
is "only the owner reads it" "$(stat -c %a server)" 600
run --ompi-server file:server -n 1 ./names all
is "--ompi-server" "$rc $(cat out)" "0 $right"
run --ompi-server "$(cat server)" -n 1 ./names all
is "--ompi-server with the line" "$rc $(cat out)" "0 $right"
OMPI_MCA_mpi_name_server=file:$PWD/server limit ./names all >out 2>err
is "mpi_name_server" "$? $(cat out)" "0 $right"
limit "$MPIRUN" -q --ompi-server file:server -n 2 ./names publish >published 2>&1 &
publisher=$!
run --ompi-server file:server --oversubscribe -n 3 ./names find
is "find" "$rc $(sort out | tr '\n' ' ')" "0 find 0: 2 there find 1: 2 there find 2: 2 there "
wait "$publisher"
is "publish" "$? $(sort published | tr '\n' ' ')" "0 publish 0: 3 there publish 1: 3 there "

# a stranger, with a wrong secret, and with none
sed 's#^\([^/]*/[^/]*/[^/]*/\).#\1x#; s#^\([^/]*/[^/]*/[^/]*/\)x#\10#' server >wrong
cmp -s server wrong && sed 's#^\([^/]*/[^/]*/[^/]*/\).#\11#' server >wrong
OMPI_MCA_mpi_name_server=file:$PWD/wrong limit ./names all >out 2>err
is "a wrong secret" "$? $(cat out)" "0 PORT PORT PORT PORT  PORT PORT PORT"
port=$(cut -d/ -f3 server)
for ((i = 0; i < 70; i++)); do # connections that say nothing, more than are kept at a time
    exec {fd}<>"/dev/tcp/127.0.0.1/$port"
done
run --ompi-server file:server -n 1 ./names all
is "strangers are there" "$rc $(cat out)" "0 $right"
run --ompi-server file:nowhere -n 1 ./names all
has "no such file" err '--ompi-server: cannot read nowhere'
run --ompi-server file:names.c -n 1 ./names all
has "another file" err '--ompi-server: expected file:FILE'

kill "$keeper"
wait "$keeper"
[ ! -e server ] || complain "the file of --report-uri is left"

# A link that somebody made beforehand under a name that can be guessed is not followed, whoever may write into the directory.
echo precious >victim
limit bash -c 'for end in "" .new .tmp .$$; do ln -s ../victim "$1/uri$end"; done
    exec "$2" --report-uri "$1/uri" -n 1 true' - "$(mkdir links && echo links)" "$MPIRUN" >out 2>err
is "the file behind a link" "$? $(cat victim)" "0 precious"
finish
