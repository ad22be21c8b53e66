#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A port serves who has its name while others, who have recorded the hello of such a caller, repeat it and say no more.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
cat >meet.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* meet accept FILE N: opens a port, writes its name into the file, and accepts N times; meet connect FILE */
int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", other[4096];
    int accepts = strcmp(argv[1], "accept") == 0, times = accepts ? argv[3][0] - '0' : 1, number;
    MPI_Comm inter;
    MPI_Init(&argc, &argv);
    if (accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        snprintf(other, sizeof other, "%s.new", argv[2]);
        FILE *file = fopen(other, "w");
        fputs(port, file);
        fclose(file);
        rename(other, argv[2]);
    } else {
        FILE *file = fopen(argv[2], "r");
        if (!file || !fgets(port, sizeof port, file))
            return 1;
        fclose(file);
    }
    for (int i = 0; i < times; i++) {
        if (accepts)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        number = accepts ? i + 1 : 0;
        if (accepts)
            MPI_Send(&number, 1, MPI_INT, 0, 0, inter);
        else
            MPI_Recv(&number, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
        printf("%s %d\n", argv[1], number);
        fflush(stdout);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Finalize();
    return 0;
}
C
# Between the first caller and the port: passes all, records the hello, and then repeats it on 40 connections, which stay open until the end:
# a port that waits 20 s for each of them does not answer the next caller within his limit.
cat >stranger.py <<'END'
import socket, threading, time
HELLO = 8 + 2 + 2 + 4 + 96 + 20 + 32 + 32  # lib/util/handshake.h
parts = open("port").read().split("/")  # tern-port-1/HOST/PORT/TOKEN/ADDRESS,...
host = parts[4].split(",")[0]
listener = socket.create_server(("127.0.0.1", 0))
parts[2], parts[4] = str(listener.getsockname()[1]), "127.0.0.1"
with open("relayed", "w") as file:
    file.write("/".join(parts))
target = (host.strip("[]"), int(open("port").read().split("/")[2]))
caller, _ = listener.accept()
line = socket.create_connection(target)
hello = b""
def pass_on(here, there):
    global hello
    while got := here.recv(65536):
        if here is caller:
            hello += got
        there.sendall(got)
    there.shutdown(socket.SHUT_WR)
threading.Thread(target=pass_on, args=(line, caller)).start()
pass_on(caller, line)
held = []
for _ in range(40):
    held.append(socket.create_connection(target))
    held[-1].sendall(hello[:HELLO])
open("repeated", "w").close()
time.sleep(600)
END
"$MPICC" -o meet meet.c || { echo "cannot build meet"; exit 1; }
exists() { [ -e "$1" ]; }
limit ./meet accept port 2 >accepted 2>err &
accepting=$!
eventually "a port" exists port
"$PYTHON3" stranger.py &
stranger=$!
eventually "a stranger" exists relayed
limit ./meet connect relayed >first 2>>err
is "the first caller" "$(cat first)" "connect 1"
eventually "the hello is repeated" exists repeated
limit ./meet connect port >second 2>>err
is "the second caller" "$(cat second)" "connect 2"
kill $stranger
wait $accepting
is "the port's own job" "$? $(tr '\n' ' ' <accepted)" "0 accept 1 accept 2 "
[ ! -s err ] || complain "messages"
finish
