#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Buffers in device memory, with a driver of our own that has no device (fake_cuda.c). First programs that use its pointers
# themselves, then programs of test/mpi whose whole heap is device memory: a library that touches a buffer in a call dies.
# With TERN_TEST_LONG all of test/mpi, every kind of memory, and more rounds of threads and of random calls.
set -u
. "$TERN_SRCDIR/test/mpirun/check.bash"
export OMPI_MCA_rmaps_base_oversubscribe=1 # no word where ranks share a core
export FAKE_CUDA=$TERN_BUILDDIR/test/device/.libs/libcuda.so.1
FAKE_HEAP=$TERN_BUILDDIR/test/device/.libs/libfakeheap.so
[ -e "$FAKE_CUDA" ] || { echo "no $FAKE_CUDA: make check builds it"; exit 1; }
for program in pointers kinds failing calls shared kernels collectives windows threads lists; do
    "$MPICC" -O1 -g -w -I"$TERN_SRCDIR/test/mpi" -o $program "$TERN_SRCDIR/test/device/$program.c" -ldl -lpthread || exit 1
done

for program in bare device; do # of bench/device/prove, which only a machine with a GPU runs
    "$MPICC" -w -o bench_$program "$TERN_SRCDIR/bench/device/$program.c" -ldl || exit 1
done

clean() { # WHAT: the job was right, and nobody said anything
    is "$1" "$rc $(cat err)" "0 "
}
run -n 2 ./pointers
clean "pointers"
run -n 2 --mca accel cuda ./pointers late
clean "the driver is loaded late"
run -n 2 --mca btl tcp,self ./pointers
clean "tcp"
run -n 2 --mca btl ^ipc -x FAKE_CUDA_DELAY_US=100 ./pointers
clean "pieces through pinned memory"
run -n 2 --mca btl_shm_single_copy never ./pointers
clean "no pulls"
run -n 2 -x FAKE_CUDA_REUSE=1 ./kinds
clean "kinds"
if in_long; then
    run -n 2 -x FAKE_CUDA_FLAGS=none ./kinds
    clean "kinds, contexts have no flags"
    run -n 2 --mca btl tcp,self -x FAKE_CUDA_DELAY_US=100 ./kinds
    clean "kinds, tcp"
fi
if [ -z "$SAN" ]; then # a sanitizer has a handler of its own
    run -n 2 ./kinds unknown
    has "freed before MPI saw it" err 'which the processor cannot touch: is it device memory, or was it, and was freed'
fi
run -n 2 -x FAKE_CUDA_FAIL=1 ./failing
clean "failing"
run -n 2 -x FAKE_CUDA_FAIL=1 ./failing fatal
has "failing" err 'MPI_Send: the CUDA driver could not copy a buffer: CUDA_ERROR_ILLEGAL_ADDRESS'
run -n 2 --mca btl tcp,self -x FAKE_CUDA_FAIL=1 ./failing
is "failing, tcp" "$rc" 0
run -n 2 -x FAKE_CUDA_DELAY_US=100 ./pointers
clean "streams are threads"
run -n 2 ./calls ipc
is "calls of the driver" "$rc $(cat err)" "0 "
run -n 2 --mca btl ^ipc ./calls staged
is "calls of the driver, staged" "$rc $(cat err)" "0 "
run -n 2 --mca btl tcp,self ./calls staged
is "calls of the driver, tcp" "$rc $(cat err)" "0 "
run -n 2 --mca btl ^ipc -x FAKE_CUDA_PINNED=none ./calls refused
is "calls of the driver, pinned memory is refused" "$rc $(grep -vc 'does not pin 1024 KiB' err)" "0 0"
for choice in tcp,self ${TERN_TEST_LONG:+ipc,shm,self shm,self}; do
    run -n 2 --mca btl $choice ./kernels
    clean "kernels, btl $choice"
done
for choice in ipc,shm,self shm,self tcp,self; do
    run -n 2 --mca btl $choice ./lists
    clean "lists of runs, btl $choice"
done
run -n 2 -x FAKE_CUDA_DELAY_US=50 ./lists
clean "lists of runs on streams that are threads"
if in_long; then
    run -n 2 -x FAKE_CUDA_DELAY_US=50 ./kernels
    clean "kernels on streams that are threads"
fi
run -n 1 -x FAKE_CUDA_KERNELS=none ./kernels none
is "no kernels" "$rc $(grep -c 'the CUDA driver does not load the kernel' err)" "0 1"
run -n 1 --mca accel none ./pointers
is "accel none" "$((rc != 0))" 1

# the example loads the driver by itself
"$MPICC" -w -o device_pingpong "$TERN_SRCDIR/examples/device_pingpong.c" -ldl || exit 1
run -q -n 2 --mca accel cuda -x LD_LIBRARY_PATH="${FAKE_CUDA%/*}" ./device_pingpong
is "the example" "$rc $(cat out)" "0 20 messages of 4194304 bytes between devices and back, right"
# long messages of a node
staged='messages between devices of this node go through the host, which is slower: the CUDA driver'
shares() { # WHAT ARGUMENTS...: every message is right, and it is said once that they go through the host
    what=$1
    shift
    run "$@"
    is "$what" "$rc $(grep -c "$staged" err) $(grep -vc "$staged" err)" "0 1 0"
}
direct() { # WHAT ARGUMENTS...: every message is right, and none goes through the host
    what=$1
    shift
    run "$@"
    clean "$what"
}
direct "handles" -n 2 ./shared ipc
run -n 2 --display paths ./shared ipc
has "the path" err 'rank 0 .*path to rank 1: shm.*; device memory: CUDA IPC$'
has "the path" err 'rank 1 .*path to rank 0: shm.*; device memory: CUDA IPC$'
direct "addresses come back" -n 2 -x FAKE_CUDA_REUSE=1 ./shared ipc ${TERN_TEST_LONG:+10000}
direct "slow streams" -n 2 -x FAKE_CUDA_REUSE=1 -x FAKE_CUDA_DELAY_US=100 ./shared ipc 30
direct "several devices" -n 4 --oversubscribe ./shared ipc devices 30
shares "no IPC" -n 2 -x FAKE_CUDA_IPC=none ./shared staged 10
has "no IPC" err 'CUDA_ERROR_NOT_SUPPORTED.: this driver has no CUDA IPC'
shares "MIG" -n 2 -x FAKE_CUDA_IPC=mig ./shared staged 10
shares "devices that do not reach each other" -n 2 -x FAKE_CUDA_PEERS=none ./shared staged devices 10
for choice in ^ipc self,tcp; do
    run -n 2 --mca btl $choice ./shared staged 10
    clean "btl $choice"
done

# nonblocking and persistent collectives: where all buffers are on devices nothing goes through the host
for form in nonblocking persistent; do
    direct "$form collectives on devices" -n 2 ./collectives devices $form ipc
    direct "$form collectives on managed memory" -n 4 --oversubscribe ./collectives managed $form
    direct "$form collectives, one rank in host memory" -n 4 --oversubscribe ./collectives host $form staged
done
direct "collectives on memory of all kinds" -n 4 --oversubscribe ./collectives all
direct "collectives, another rank in host memory each time" -n 3 --oversubscribe -x FAKE_CUDA_DELAY_US=50 ./collectives turns
direct "collectives that are checked" -n 3 --oversubscribe --mca check_level full ./collectives turns
direct "collectives without CUDA IPC" -n 2 --mca btl ^ipc ./collectives turns
direct "collectives by TCP" -n 3 --oversubscribe --mca btl tcp,self ./collectives turns

# windows in device memory: opened by the ranks of the node, or asked if that is not possible
direct "windows on one device" -n 2 ./windows one ipc
direct "windows on several devices" -n 3 --oversubscribe ./windows devices ipc
direct "windows, slow streams" -n 2 -x FAKE_CUDA_REUSE=1 -x FAKE_CUDA_DELAY_US=50 ./windows devices ipc
direct "windows, one in host memory" -n 3 --oversubscribe ./windows host ipc
for kind in managed pool; do
    shares "windows in $kind memory" -n 3 --oversubscribe ./windows $kind asked
done
shares "windows, no IPC" -n 2 -x FAKE_CUDA_IPC=none ./windows one asked
shares "windows, MIG" -n 2 -x FAKE_CUDA_IPC=mig ./windows one asked
shares "windows, devices that do not reach each other" -n 3 --oversubscribe -x FAKE_CUDA_PEERS=none ./windows devices asked
for choice in ^ipc self,tcp; do
    run -n 2 --mca btl $choice ./windows one asked
    clean "windows, btl $choice"
done
run -n 2 --mca rma_mechanism asked ./windows one
clean "windows, asked by wish"

# threads
shares "threads" -n 2 ./threads 12 ipc
shares "threads, addresses come back" -n 2 -x FAKE_CUDA_REUSE=1 ./threads ${TERN_TEST_LONG:+4}12 ipc
shares "threads, streams are threads" -n 2 -x FAKE_CUDA_REUSE=1 -x FAKE_CUDA_DELAY_US=50 ./threads ${TERN_TEST_LONG:+2}8 ipc
for choice in ^ipc self,tcp; do
    direct "threads, btl $choice" -n 2 --mca btl $choice ./threads 12 staged
done

# too little memory may be pinned: all goes on, and it is said once why it is slower
cat >limited <<'EOF'
#!/bin/sh
ulimit -l "$LIMIT" && exec "$@"
EOF
chmod +x limited
pins_little() { # WHAT TIMES WORDS ARGUMENTS...: every message is right, and it is said TIMES that memory is not pinned, with WORDS
    local what=$1 times=$2 words=$3
    shift 3
    run -n 2 "$@"
    grep -Ec "does not pin 1024 KiB of host memory \(CUDA_ERROR_OUT_OF_MEMORY\): .*; $words" err >said
    # shellcheck disable=SC2053 # a pattern
    [[ "$rc $(cat said)" = "0 "$times ]] || complain "$what: rc $rc, said $(cat said) times, wanted $times"
    is "$what: what else is said" "$(grep -v -e 'does not pin 1024 KiB' -e "$staged" -e '^fake_cuda: ' err)" ""
}
while read -r when choice call; do
    [ "$when" = always ] || in_long || continue
    # shellcheck disable=SC2086 # words
    pins_little "no pinned memory, btl $choice, $call" 1 "" --mca btl $choice -x FAKE_CUDA_PINNED=none $call
    # nothing can be pinned, or one piece of memory, which may be enough
    for limit in 100:1 1100:[01]; do
        # shellcheck disable=SC2086 # words
        LIMIT=${limit%:*} pins_little "limit $limit, btl $choice, $call" "${limit#*:}" \
            "this process may lock ${limit%:*} KiB of memory, see .ulimit -l.\$" --mca btl $choice -x FAKE_CUDA_PINNED=locks ./limited $call
    done
done <<'END'
always self,ipc,shm ./pointers
long self,ipc,shm ./collectives all
always self,ipc,shm ./threads
always ^ipc ./shared staged 10
always ^ipc ./windows one asked
long self,tcp ./kinds
END
LIMIT=2500 pins_little "limit 2500, threads" 1 "" --mca btl tcp,self -x FAKE_CUDA_PINNED=locks -x FAKE_CUDA_COUNT=1 ./limited ./threads
has "limit 2500: two pieces are pinned" err '^fake_cuda: +2 pinned$'
has "limit 2500: others are not" err '^fake_cuda: +[1-9][0-9]* not pinned$'

# two containers on one host: the driver opens no handle
cat >contained <<'EOF'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && exec unshare -i -p -f --mount-proc "$@"
exec "$@"
EOF
chmod +x contained
if unshare -i -p -f --mount-proc true 2>/dev/null; then
    shares "messages between containers" -n 2 ./contained ./shared staged 10
    shares "windows between containers" -n 2 ./contained ./windows one asked
    has "containers" err 'containers that share the IPC namespace'
fi

# the heap as device memory
if [ -n "$SAN" ]; then
    echo "LEFT OUT: the heap as device memory; a sanitizer has a malloc of its own, which nobody may replace"
    finish
fi
"$MPICC" -w -shared -fPIC "$TERN_BUILDDIR/lib/generated/interpose.c" -o interpose.so -ldl || exit 1
cat >wrapped <<EOF
#!/bin/sh
exec "$MPIRUN" -x FAKE_CUDA_BUFFERS=\$MODE -x LD_PRELOAD="$FAKE_CUDA $FAKE_HEAP $PWD/interpose.so" "\$@"
EOF
chmod +x wrapped
# Not in this list: programs whose threads use memory while others are in MPI (the heap is closed then), or that ask what a window
# or a long message in host memory does, and what starts further programs. Programs of many random calls have fewer rounds here.
out_of_reach='bsend_threads streams_from_who_waits thread_* unexpected_memory_threads win_threads* win_without_shared_memory win_misuse* win_of_late_rank win_random* spawn* connect_jobs names programs_in_turn'
programs=(win_counter coll_alltoall coll_nonblocking_many neighbor_collectives non_overtaking op_user pack_external
    persistent_restart random_collectives sendrecv_replace_big truncate_everywhere type_strided_rendezvous)
ranks=(--ranks 1 --ranks 2 --ranks 3 --ranks 4)
modes=(device mixed)
fewer_rounds=("2 win_random 5" "2 random_traffic 1 80" "3 random_traffic 2 50" "5 random_traffic 3 30" "2 file_random 8" "3 file_random 8")
for program in win_random random_traffic file_random; do
    "$MPICC" -w -I"$TERN_SRCDIR/test/mpi" -o $program "$TERN_SRCDIR/test/mpi/$program.c" || exit 1
done
if [ -n "${TERN_TEST_LONG:-}" ]; then
    modes=(device mixed managed devices)
    programs=() ranks=()
    for program in "$TERN_SRCDIR"/test/mpi/*.c; do
        name=$(basename "$program" .c)
        for pattern in $out_of_reach; do
            # shellcheck disable=SC2053 # a pattern
            [[ $name != $pattern ]] || continue 2
        done
        programs+=("$name")
    done
fi
for mode in "${modes[@]}"; do
    MODE=$mode MPIRUN=$PWD/wrapped "$PYTHON3" -B "$TERN_SRCDIR/test/mpi/run" --build programs "${ranks[@]}" "${programs[@]}" >runs 2>&1 ||
        { cat runs; complain "$mode: some programs fail"; }
    echo "$mode: $(tail -n 1 runs)"
    for program in "${fewer_rounds[@]}"; do
        # shellcheck disable=SC2086 # words
        MODE=$mode timeout -k 30 300 ./wrapped -n ${program/ / ./} >runs 2>&1 || { cat runs; complain "$mode: $program"; }
    done
done
finish
