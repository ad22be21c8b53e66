#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_level full finds each fault of fault.c on four ranks, and says which rank differs and in what; without it the same
# collectives that are right run as ever.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
wrong=0
complain() {
    echo "WRONG: $1"
    head -n 20 out
    wrong=$((wrong + 1))
}
"$MPICC" -w "$here/fault.c" -o faults || exit 1

full() { timeout -k 30 300 "$MPIRUN" --oversubscribe -n 4 --mca check_level full "$@" >out 2>&1; }

# fault WORD RANKS REGEX: so many ranks are told so; all come to the end
fault() {
    full ./faults "$1"
    [ "$(grep -cE -- "$3" out)" = "$2" ] || complain "$1: expected on $2 ranks: $3"
    [ "$(grep -c 'end$' out)" = 4 ] || complain "$1: not all ranks came to the end"
}
# right WORD: nobody is told anything
right() {
    full ./faults "$1"
    [ "$(sort out | tr '\n' ' ')" = "[0] end [1] end [2] end [3] end " ] || complain "$1: expected no word"
}

fault bcast_root 4 'class 40: MPI_Bcast: rank 3 called MPI_Bcast with root 1, ranks 0, 1, 2 with root 0 on MPI_COMM_WORLD'
fault bcast_count 4 'rank 1 called MPI_Bcast with count 11 of MPI_INT, ranks 0, 2, 3 with count 10 of MPI_INT'
fault bcast_type 4 'rank 2 called MPI_Bcast with count 8 of MPI_FLOAT, ranks 0, 1, 3 with count 8 of MPI_INT'
right bcast_types_alike
right bcast_of_pairs
fault bcast_beside_packed 4 'rank 1 called MPI_Bcast with count 3 of MPI_FLOAT, ranks 2, 3 with count 3 of MPI_INT'
fault split_types 4 'rank 1 called MPI_Comm_split_type with split_type [0-9]+, ranks 0, 2, 3 with split_type [0-9]+ on MPI_COMM_WORLD'
fault merge_high 4 'rank 1 of group A called MPI_Intercomm_merge with high 1, rank 0 of group A with high 0'
fault other_procedure 4 'rank 2 called MPI_Barrier, ranks 0, 1, 3 MPI_Bcast on MPI_COMM_WORLD'
fault blocking_and_not 4 'rank 2 called MPI_Ibarrier, ranks 0, 1, 3 MPI_Barrier on MPI_COMM_WORLD'
fault finalize_early 4 'rank 2 called MPI_Finalize, ranks 0, 1, 3 MPI_Barrier on MPI_COMM_WORLD'
fault reduce_op 4 'rank 1 called MPI_Reduce with op MPI_MAX, ranks 0, 2, 3 with op MPI_SUM'
fault gather_block 4 'rank 2 called MPI_Gather with sendcount 5 of MPI_INT, ranks 0, 1, 3 with sendcount 4 of MPI_INT'
fault gatherv_block 4 'rank 2 called MPI_Gatherv with sendcount 2 of MPI_INT, rank 0 with recvcounts\[2\] 3 of MPI_INT'
fault scatter_block 4 'rank 1 called MPI_Scatter with recvcount 4 of MPI_INT, ranks 0, 2, 3 with sendcount 3 of MPI_INT'
fault scatterv_block 4 'rank 3 called MPI_Scatterv with recvcount 5 of MPI_INT, rank 0 with sendcounts\[3\] 4 of MPI_INT'
fault allgather_block 4 'rank 3 called MPI_Allgather with sendcount 2 of MPI_INT, ranks 0 to 3 with sendcount 1 of MPI_INT'
fault allgatherv_counts 4 'rank 0 called MPI_Allgatherv with recvcounts\[2\] 2 of MPI_INT, ranks 1, 2, 3 with recvcounts\[2\] 1'
fault alltoall_block 4 'rank 1 called MPI_Alltoall with recvcount 1 of MPI_INT, ranks 0 to 3 with sendcount 2 of MPI_INT'
fault alltoallv_pair 4 'rank 2 called MPI_Alltoallv with recvcounts\[1\] 1 of MPI_INT, rank 1 with sendcounts\[2\] 3 of MPI_INT'
fault alltoallw_pair 4 'rank 3 called MPI_Alltoallw with recvcounts\[1\] 1 of MPI_FLOAT, rank 1 with sendcounts\[3\] 1 of MPI_INT'
fault reduce_scatter_counts 4 'rank 2 called MPI_Reduce_scatter with recvcounts\[1\] 3 of MPI_INT, ranks 0, 1, 3 with'
fault scan_count 4 'rank 0 called MPI_Scan with count 2 of MPI_INT, ranks 1, 2, 3 with count 1 of MPI_INT'
fault ibcast_root 4 'class 40: MPI_Wait: rank 2 called MPI_Ibcast with root 2, ranks 0, 1, 3 with root 1'
fault iallreduce_count 4 'class 18: MPI_Waitall: rank 1 called MPI_Iallreduce with count 3 of MPI_INT, ranks 0, 2, 3 with count 4'
fault persistent_init 4 'rank 2 called MPI_Bcast_init with root 1, ranks 0, 1, 3 with root 0'
fault neighbor_procedure 4 'rank 1 called MPI_Neighbor_alltoall, ranks 0, 2, 3 MPI_Neighbor_allgather'
fault create_procedure 4 'rank 1 called MPI_Comm_split, ranks 0, 2, 3 MPI_Comm_dup on MPI_COMM_WORLD'
fault cart_dims 4 'rank 2 called MPI_Cart_create with dims 4, 1, ranks 0, 1, 3 with dims 2, 2'
fault intercomm_root 4 'rank 0 of group A called MPI_Bcast with root MPI_ROOT, ranks 0, 1 of group B with root 1'

fault neighbor_block 4 'rank 2 called MPI_Neighbor_alltoall with recvcount 2 of MPI_INT from rank 1, rank 1 with sendcount 3 of MPI_INT to rank 2 on ring'
fault neighbor_type 4 'class 40: MPI_Wait: rank 3 called MPI_Ineighbor_allgather with recvcount 2 of MPI_FLOAT from rank 2, rank 2 with'
fault neighbor_counts 4 'rank 1 called MPI_Neighbor_alltoallv with recvcounts\[1\] 1 of MPI_INT from rank 0, rank 0 with sendcounts\[1\] 2 of MPI_INT to rank 1'
fault neighbor_types 4 'rank 1 called MPI_Neighbor_alltoallw with recvcounts\[0\] 1 of MPI_LONG from rank 0, rank 0 with sendcounts\[0\] 1 of MPI_DOUBLE to rank 1'
fault neighbor_missing 4 'rank 1 called MPI_Neighbor_allgather with sendcount 1 of MPI_INT to rank 2 on ring; rank 2 has no such neighbour'
right neighbor_grids

right starts_in_any_order
right starts_kept
fault starts_promised 4 'class 40: MPI_Wait: rank 1 called MPI_Start with request 2 \(MPI_Bcast_init\), ranks 0, 2, 3 with request 1 \(MPI_Barrier_init\) on ocean'
fault starts_promised 4 'class 40: MPI_Wait: rank 1 called MPI_Start with request 1 \(MPI_Barrier_init\), ranks 0, 2, 3 with request 2 \(MPI_Bcast_init\) on ocean'
fault starts_promised_by_one 4 'rank 3 called MPI_Barrier_init with mpi_assert_strict_start_ordering true, ranks 0, 1, 2 with mpi_assert_strict_start_ordering false on ocean'

# The first two that wait for each other are named, whoever has come besides.
fault group_tag 3 'class 40: MPI_Comm_create_group: .*(rank 2 called MPI_Comm_create_group with tag 6, rank.* with tag 5|with tag 5, rank 2 with tag 6) on MPI_COMM_WORLD'
fault group_members 4 '(rank 1 called MPI_Comm_create_group with group 0, 1, 2, rank.* with group 0, 1, 2, 3|with group 0, 1, 2, 3, rank 1 with group 0, 1, 2) on MPI_COMM_WORLD'
fault group_order 2 'rank 1 called MPI_Comm_create_group with group 1, 0, rank 0 with group 0, 1 on MPI_COMM_WORLD'
right groups_in_turn
fault group_from_session 4 '(rank 1 called MPI_Comm_create_from_group with stringtag "sea", rank.* with stringtag "land"|with stringtag "land", rank 1 with stringtag "sea") on the whole job'
fault leaders_tag 2 'rank 2 called MPI_Intercomm_create with tag 6, rank 0 with tag 5 on MPI_COMM_WORLD'
fault leaders_tag 2 'class 40: MPI_Intercomm_create: the leader, rank 0 of local_comm, could not reach agreement'
fault leaders_tag_from_groups 4 'called MPI_Intercomm_create_from_groups|could not reach agreement'

# Ranks that never come: the text comes all the same. The job is ended then, for it would wait for ever.
# waits WORD REGEX
waits() {
    "$MPIRUN" --oversubscribe -n 4 --mca check_level full --mca check_patience 1 ./faults "$1" >out 2>&1 &
    local job=$! i
    for ((i = 0; i < 3000; i++)); do
        grep -qE -- "$2" out && break
        sleep 0.1
    done
    grep -qE -- "$2" out || complain "$1: expected: $2"
    kill "$job"
    wait "$job" 2>/dev/null
}
waits late 'rank [013] waits in MPI_Barrier on MPI_COMM_WORLD for rank 2 \(in MPI_Recv\)'
waits late_outside 'rank [123] waits in MPI_Barrier on MPI_COMM_WORLD for .* not in MPI'
waits late_nonblocking 'rank [013] waits in MPI_Ibarrier on MPI_COMM_WORLD for rank 2 \(in MPI_Probe\)'

waits late_start 'rank [013] waits in MPI_Start \(MPI_Barrier_init\) on MPI_COMM_WORLD for rank 2 \(in MPI_Wait, waits for others in MPI_Start \(MPI_Bcast_init\) on MPI_COMM_WORLD\)'
waits late_in_group 'rank 0 waits in MPI_Comm_create_group on MPI_COMM_WORLD for rank 1 \(in MPI_Recv\)'
waits late_leaders 'rank 0 waits in MPI_Intercomm_create on MPI_COMM_WORLD for rank 1 \(in MPI_Intercomm_create with tag 5, remote_leader 2 on'

fault overlap_sendrecv 4 'class 1: MPI_Sendrecv: sendbuf and recvbuf overlap'
fault overlap_collective 4 'class 1: MPI_Allreduce: sendbuf and recvbuf are the same buffer; pass MPI_IN_PLACE'
fault overlap_reduce_local 8 'class 1: MPI_Reduce_local: inbuf and inoutbuf overlap'
[ "$(grep -c class out)" = 8 ] || complain "overlap_reduce_local: more than there is"
fault overlap_pack 4 'class 1: MPI_Pack: inbuf overlaps buf of the MPI_Irecv that is not complete'
[ "$(grep -c class out)" = 4 ] || complain "overlap_pack: more than there is"
fault overlap_packed 8 'class 1: MPI_Pack: inbuf and outbuf overlap'
fault overlap_packed 4 'class 1: MPI_Unpack: outbuf and inbuf overlap'
fault overlap_packed 4 'class 1: MPI_Pack_external: inbuf and outbuf overlap'
fault overlap_packed 4 'class 1: MPI_Unpack_external: outbuf and inbuf overlap'
[ "$(grep -c class out)" = 20 ] || complain "overlap_packed: more than there is"
fault win_fence_open 4 'code [0-9]+: MPI_Win_free: an epoch of MPI_Win_fence with operations is open; all ranks must call MPI_Win_fence once more'
[ "$(grep -c 'code' out)$(grep -c 'got 1' out)" = 44 ] || complain "win_fence_open: one complaint a rank, and the data"
right win_epochs_closed
fault op_on_window 12 'operation [0-2]: 10$'
[ "$(grep -c 'operation [3-5]: 0$' out)" = 12 ] || complain "op_on_window: more than there is"
fault op_beyond_the_table 4 'class 10: MPI_Reduce_local: the standard does not define MPI_MAX on MPI_BYTE .*use MPI_UNSIGNED_CHAR'
fault op_beyond_the_table 4 'class 10: MPI_Allreduce: the standard does not define MPI_SUM on MPI_CHAR .*use MPI_SIGNED_CHAR'
fault op_beyond_the_table 4 'class 10: MPI_Reduce: the standard does not define MPI_LOR on MPI_INTEGER .*use MPI_LOGICAL'
[ "$(grep -c class out)" = 12 ] || complain "op_beyond_the_table: more than there is"
right overlap_columns
fault overlap_blocks 4 'class 1: MPI_Allgatherv: recvbuf: blocks overlap, so some bytes would be written twice'
fault overlap_requests 4 'class 1: MPI_Irecv: buf overlaps buf of the MPI_Irecv that is not complete'
fault overlap_persistent 4 'class 1: MPI_Start: buf overlaps buf of the MPI_Recv_init that is not complete'
fault changed_send 4 'class 1: MPI_Wait: buf of MPI_Isend was changed before the request was complete'
fault freed_type 4 'class 3: MPI_Send: datatype is a handle that MPI_Type_free has freed'
fault freed_but_alive 4 'class 3: MPI_Type_commit: datatype is a handle that MPI_Type_free has freed'
fault foreign_handle 4 'class 3: MPI_Send: datatype is 0x[0-9a-f]+, not a handle: there is no memory at this address'
fault freed_request 4 'class 7: MPI_Cancel: request is a handle that MPI_Wait has freed'
fault wrong_kind 4 'class 7: MPI_Wait: request is the handle of a communicator'
fault wrong_kind 4 'class 7: MPI_Wait: request is the handle of a group'
fault wrong_kind 4 'class (34|28): MPI_Comm_set_info: info is the handle of a communicator'
fault twice_in_one_call 4 'class 7: MPI_Waitall: array_of_requests\[0\] and \[2\] are one request; give each request once'
fault twice_in_one_call 4 'class 7: MPI_Testall: array_of_requests\[0\] and \[2\] are one request'
[ "$(grep -c class out)" = 8 ] || complain "twice_in_one_call: more than there is"
fault leaks 4 '3 datatypes from MPI_Type_vector were never freed'
fault leaks 4 'a communicator "ocean" from MPI_Comm_dup was never freed'
fault leaks 4 'a group from MPI_Comm_group was never freed'
[ "$(grep -c 'never freed' out)" = 12 ] || complain "leaks: more than there are"
# The launcher ends the job when the first rank has left its session open.
full ./faults leaks_with_session
grep -q 'a datatype from MPI_Type_vector was never freed' out || complain "leaks_with_session: no datatype"
grep -q 'a session from MPI_Session_init was never freed' out || complain "leaks_with_session: no session"
fault leaks_of_info 4 'an info object from MPI_Info_create was never freed'
right free_late
fault lost_messages 4 'MPI_Comm_free: a message of 12 bytes from rank [0-3] with tag 7 on ocean was never received'
fault lost_messages 4 'MPI_Finalize: a message of 8 bytes from rank [0-3] with tag 9 on MPI_COMM_WORLD was never received'

fault exact_length 4 'class 2: MPI_Sendrecv: the message from rank [0-3] with tag 0 has 12 bytes, but its receive buffer has 16; .* mpi_assert_exact_length'
[ "$(grep -c class out)" = 4 ] || complain "exact_length: more than there is"
fault exact_length_of_requests 8 'class 2: MPI_Wait: the message from rank [0-3] with tag [12] has 4 bytes, but its receive buffer has 8'
[ "$(grep -c class out)" = 8 ] || complain "exact_length_of_requests: more than there is"
fault exact_length_of_a_matched_message 4 'class 2: MPI_Mrecv: the message from rank [0-3] with tag 2 has 4 bytes, but its receive buffer has 8'
fault exact_length_of_a_matched_message 4 'class 2: MPI_Wait: the message from rank [0-3] with tag 2 has 4 bytes, but its receive buffer has 8'
fault two_sessions 4 'MPI_Comm_compare: comm1 comes from a session, comm2 from another session'
fault two_sessions 4 'MPI_Waitall: array_of_requests\[0\] and \[1\] belong to different sessions'
[ "$(grep -c class out)" = 12 ] || complain "two_sessions: more or less than there is"

# At level basic, too, a rank that makes another collective call than the others ends the job, and is named: whether their
# messages meet, their posts on a board, or one of each. The errors are fatal here: who has no word from that rank waits.
# other WHO CALL OTHERS REGEX [OPTION...]
other() {
    local who=$1 call=$2 others=$3 regex=$4 barriers count status
    shift 4
    for barriers in 0 5; do
        for count in 8 200000; do
            timeout -k 30 300 "$MPIRUN" --oversubscribe -n 4 "$@" ./faults other \
                "$who" "$call" "$others" $barriers $count >out 2>&1
            status=$?
            [ $status = 40 ] || complain "other $who $call $others $barriers $count $*: status $status"
            grep -qE -- "$regex" out || complain "other $who $call $others $barriers $count $*: expected $regex"
        done
    done
}
for options in '' '--mca coll_board 0' '--mca btl tcp,self'; do
    # shellcheck disable=SC2086
    {
        other 2 barrier iallreduce 'MPI_Wait: rank 2 is in MPI_Barrier or MPI_Ibarrier, this rank is in MPI_Iallreduce, on MPI_COMM_WORLD; |MPI_Barrier: rank [013] is in MPI_Allreduce or MPI_Iallreduce, this rank is in MPI_Barrier, on MPI_COMM_WORLD; ' $options
        other 1 iallreduce_tested barrier 'MPI_Test: rank [023] is in MPI_Barrier or MPI_Ibarrier, this rank is in MPI_Iallreduce, on|MPI_Barrier: rank 1 is in MPI_Allreduce or' $options
        other 0 bcast allreduce 'MPI_Allreduce: rank 0 is in MPI_Bcast or MPI_Ibcast, this|rank [123] is in MPI_Allreduce or MPI_Iallreduce, this rank is in MPI_Bcast' $options
        other 3 alltoall reduce 'rank 3 is in MPI_Alltoall or MPI_Ialltoall, this rank is in MPI_Reduce|rank [012] is in MPI_Reduce or MPI_Ireduce, this rank is in MPI_Alltoall' $options
    }
done
other 1 split barrier 'rank 1 is in a procedure that makes a communicator, this rank is in MPI_Barrier|rank [023] is in MPI_Barrier or MPI_Ibarrier, this rank is in MPI_Comm_split'
other 2 none allreduce 'MPI_Allreduce: rank 2 is in MPI_Finalize or MPI_Comm_disconnect, this rank is in MPI_Allreduce'

# The levels, and a word that is none.
timeout -k 30 300 "$MPIRUN" -n 1 --mca check_level none ./faults bcast_types_alike >out 2>&1 || complain "check_level none"
timeout -k 30 300 "$MPIRUN" -n 1 --mca check_level ful ./faults bcast_types_alike >out 2>&1
grep -q 'parameter check_level is "ful" (option --mca); expected one of none, basic, full' out || complain "check_level ful"
[ "$wrong" = 0 ]
