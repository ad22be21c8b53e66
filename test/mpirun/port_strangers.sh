#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A port serves who has its name while others come: who have recorded the hello of such a caller and repeat it, or who say nothing at all.
# A call to a port ends if nobody accepts.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
cat >meet.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* meet accept FILE N [GO]: opens a port, writes its name into the file, waits until the file GO exists, and accepts N times
 * meet connect FILE [SECONDS]: for at most so long, if that is said. meet lookup: asks for a name */
static void word(const char *text, int result)
{
    int error_class;
    MPI_Error_class(result, &error_class);
    printf("%s %s\n", text, result == MPI_SUCCESS ? "right" : error_class == MPI_ERR_PORT ? "MPI_ERR_PORT"
                            : error_class == MPI_ERR_NAME ? "MPI_ERR_NAME" : "another error");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", other[4096];
    int accepts = strcmp(argv[1], "accept") == 0, times = accepts ? argv[3][0] - '0' : 1, number, rc;
    MPI_Info info;
    MPI_Comm inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    if (strcmp(argv[1], "lookup") == 0) {
        word("lookup", MPI_Lookup_name("nothing", MPI_INFO_NULL, port));
        MPI_Finalize();
        return 0;
    }
    if (accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        snprintf(other, sizeof other, "%s.new", argv[2]);
        FILE *file = fopen(other, "w");
        fputs(port, file);
        fclose(file);
        rename(other, argv[2]);
        while (argc > 4 && access(argv[4], F_OK) != 0)
            usleep(20000);
    } else {
        FILE *file = fopen(argv[2], "r");
        if (!file || !fgets(port, sizeof port, file))
            return 1;
        fclose(file);
        if (argc > 3)
            MPI_Info_set(info, "timeout", argv[3]);
    }
    for (int i = 0; i < times; i++) {
        if (accepts)
            rc = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        else
            rc = MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter);
        if (rc != MPI_SUCCESS) {
            word(argv[1], rc);
            break;
        }
        number = accepts ? i + 1 : 0;
        if (accepts)
            MPI_Send(&number, 1, MPI_INT, 0, 0, inter);
        else
            MPI_Recv(&number, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
        printf("%s %d\n", argv[1], number);
        fflush(stdout);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
C
# stranger.py PORT RELAYED REPEATED: between the first caller and the port: passes all, records the hello, and then repeats it on 80
# connections, which stay open until the end. A port that waits for each of them has no room for the next caller.
cat >stranger.py <<'END'
import socket, sys, threading, time
HELLO = 8 + 2 + 2 + 4 + 96 + 20 + 32 + 32  # lib/util/net/handshake.h
parts = open(sys.argv[1]).read().strip().split("/")  # tern-port-1/HOST/PORT/TOKEN/ADDRESS,...
host, number = parts[4].split(",")[0].strip("[]"), int(parts[2])
listener = socket.create_server(("127.0.0.1", 0))
parts[2], parts[4] = str(listener.getsockname()[1]), "127.0.0.1"
with open(sys.argv[2], "w") as file:
    file.write("/".join(parts))
target = (host, number)
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
for _ in range(80):
    held.append(socket.create_connection(target))
    held[-1].sendall(hello[:HELLO])
open(sys.argv[3], "w").close()
time.sleep(600)
END
"$MPICC" -o meet meet.c || { echo "cannot build meet"; exit 1; }
exists() { [ -e "$1" ]; }
limit ./meet accept port 2 >accepted 2>err &
accepting=$!
eventually "a port" exists port
"$PYTHON3" stranger.py port relayed repeated &
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

# crowd.py PORT NAME SILENT: connects 100 times and says nothing, waits until another caller has come, connects 100 times more and makes
# NAME; all while the port's program does not accept. The kernel answers the callers.
cat >crowd.py <<'END'
import glob, socket, sys, time
parts = open(sys.argv[1]).read().strip().split("/")
host, number = parts[4].split(",")[0].strip("[]"), int(parts[2])
def callers():
    lines = [line.split() for table in glob.glob("/proc/self/net/tcp*") for line in open(table).readlines()[1:]]
    return sum(int(words[1].split(":")[1], 16) == number and words[3] == "01" for words in lines)
held = [socket.create_connection((host, number)) for _ in range(100)]
open(sys.argv[1] + ".one", "w").write("/".join(parts[:4] + [host]))  # a caller has one address to try
open(sys.argv[2] + ".half", "w").close()
while callers() <= len(held):
    time.sleep(0.02)
held += [socket.create_connection((host, number)) for _ in range(100)]
open(sys.argv[2], "w").close()
time.sleep(600)
END
limit ./meet accept crowded 1 go >accepted 2>err &
accepting=$!
eventually "a port" exists crowded
"$PYTHON3" crowd.py crowded go &
stranger=$!
eventually "a crowd" exists go.half
limit ./meet connect crowded.one >first 2>>err
is "the caller in the crowd" "$(cat first)" "connect 1"
kill $stranger
[ "$(cat first)" = "connect 1" ] || kill $accepting
wait $accepting
is "the crowded port's job" "$? $(cat accepted)" "0 accept 1"
[ ! -s err ] || complain "messages"

# mpirun's port for names: the hello of a caller is repeated 80 times.
limit "$MPIRUN" --report-uri uri -n 1 bash -c 'until [ -e over ]; do sleep 0.1; done' 2>err &
serving=$!
eventually "a file for --report-uri" exists uri
"$PYTHON3" stranger.py uri uri.relayed uri.repeated &
stranger=$!
eventually "a stranger" exists uri.relayed
OMPI_MCA_mpi_name_server=file:uri.relayed limit ./meet lookup >first 2>>err
is "the first who asks" "$(cat first)" "lookup MPI_ERR_NAME"
eventually "the hello is repeated" exists uri.repeated
OMPI_MCA_mpi_name_server=file:uri limit ./meet lookup >second 2>>err
is "the second who asks" "$(cat second)" "lookup MPI_ERR_NAME"
kill $stranger
: >over
wait $serving
[ ! -s err ] || complain "messages"

# Nobody accepts: the call ends, and the port's job never meets the caller that has gone. A port that a stranger has now ends it, too.
rm -f go
limit ./meet accept late 1 go >accepted 2>err &
accepting=$!
eventually "a port" exists late
limit ./meet connect late 1 >first 2>>err
is "nobody accepts" "$(cat first)" "connect MPI_ERR_PORT"
: >go
limit ./meet connect late 300 >second 2>>err
is "somebody accepts later" "$(cat second)" "connect 1"
wait $accepting
is "the later port's job" "$? $(cat accepted)" "0 accept 1"
cat >silent.py <<'END'
import socket, time
listener = socket.create_server(("127.0.0.1", 0))
parts = open("late").read().split("/")
parts[2], parts[4] = str(listener.getsockname()[1]), "127.0.0.1"
with open("taken.new", "w") as file:
    file.write("/".join(parts))
import os
os.rename("taken.new", "taken")
held = []
while True:
    held.append(listener.accept())
END
"$PYTHON3" silent.py &
stranger=$!
eventually "a silent stranger" exists taken
OMPI_MCA_mpi_connect_timeout=1 limit ./meet connect taken >first 2>>err
is "a stranger has the port" "$(cat first)" "connect MPI_ERR_PORT"
kill $stranger
[ ! -s err ] || complain "messages"
finish
