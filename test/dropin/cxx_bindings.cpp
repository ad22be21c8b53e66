// SPDX-License-Identifier: BSD-3-Clause

// Calls the C++ bindings, class by class, and prints what comes out: on 4 ranks every rank's lines, in order, on rank 0.
// The same program, compiled with Open MPI's mpicxx, must print the same on Open MPI and on Tern.
//
// Methods are inline in Open MPI's headers, so a program calls its own copies. Compiled without optimization as a shared
// library that is loaded after libmpi_cxx, it calls those of libmpi_cxx.
#include <mpi.h>

#include <complex>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <typeinfo>

using MPI::COMM_SELF;
using MPI::COMM_WORLD;

static int rank, size, left, right;
static std::ostringstream out;

// line("name", 1, 2): "name 1 2"
static void more()
{
    out << '\n';
}
template <typename First, typename... Rest> static void more(const First &first, const Rest &...rest)
{
    out << ' ' << first;
    more(rest...);
}
template <typename... Values> static void line(const char *name, const Values &...values)
{
    out << "rank " << rank << ' ' << name;
    more(values...);
}
static std::string list(const int *values, int count)
{
    std::ostringstream text;
    for (int i = 0; i < count; i++)
        text << (i ? "," : "") << values[i];
    return text.str();
}

// ---- messages ----

static void messages()
{
    MPI::Status status;
    int mine = 100 + rank, got = -1;
    COMM_WORLD.Sendrecv(&mine, 1, MPI::INT, right, 1, &got, 1, MPI::INT, left, 1, status);
    line("sendrecv", got, status.Get_source(), status.Get_tag(), status.Get_count(MPI::INT));
    COMM_WORLD.Sendrecv(&mine, 1, MPI::INT, left, 2, &got, 1, MPI::INT, right, MPI::ANY_TAG);
    line("sendrecv without status", got);
    got = mine;
    COMM_WORLD.Sendrecv_replace(&got, 1, MPI::INT, right, 3, left, 3, status);
    COMM_WORLD.Sendrecv_replace(&got, 1, MPI::INT, right, 3, left, 3);
    line("sendrecv_replace", got, status.Get_source());

    const int room = 4 * (sizeof(int) + MPI::BSEND_OVERHEAD);
    MPI::Attach_buffer(std::malloc(room), room);
    MPI::Request requests[5];
    requests[0] = COMM_WORLD.Isend(&mine, 1, MPI::INT, right, 10);
    requests[1] = COMM_WORLD.Issend(&mine, 1, MPI::INT, right, 11);
    requests[2] = COMM_WORLD.Ibsend(&mine, 1, MPI::INT, right, 12);
    COMM_WORLD.Bsend(&mine, 1, MPI::INT, right, 13);
    for (int tag = 13; tag >= 10; tag--) {
        COMM_WORLD.Probe(left, tag, status);
        COMM_WORLD.Probe(left, tag);
        while (!COMM_WORLD.Iprobe(left, tag, status) || !COMM_WORLD.Iprobe(left, tag))
            ;
        got = -1;
        if (tag % 2)
            COMM_WORLD.Recv(&got, 1, MPI::INT, left, tag, status);
        else
            COMM_WORLD.Recv(&got, 1, MPI::INT, left, tag);
        line("probed and received", got, status.Get_source(), status.Get_tag(), status.Get_elements(MPI::INT));
    }
    MPI::Request::Waitall(3, requests);
    void *buffer = NULL;
    line("detached", MPI::Detach_buffer(buffer) == room);
    std::free(buffer);

    requests[0] = COMM_WORLD.Irecv(&got, 1, MPI::INT, left, 20);
    COMM_WORLD.Barrier();
    if (rank % 2) {
        COMM_WORLD.Rsend(&mine, 1, MPI::INT, right, 20);
    } else {
        requests[1] = COMM_WORLD.Irsend(&mine, 1, MPI::INT, right, 20);
        requests[1].Wait();
    }
    requests[0].Wait(status);
    line("ready", got, status.Get_source(), requests[0] == MPI::REQUEST_NULL);
    if (rank == 0)
        COMM_WORLD.Ssend(&mine, 1, MPI::INT, 1, 21);
    if (rank == 1)
        COMM_WORLD.Recv(&got, 1, MPI::INT, 0, 21);
    line("ssend", got);
    COMM_WORLD.Send(&mine, 1, MPI::INT, MPI::PROC_NULL, 22);
    COMM_WORLD.Recv(&got, 1, MPI::INT, MPI::PROC_NULL, 22, status);
    line("PROC_NULL", status.Get_source() == MPI::PROC_NULL, status.Get_tag() == MPI::ANY_TAG, status.Get_count(MPI::INT));
}

// ---- requests ----

static void requests()
{
    MPI::Status status, statuses[4];
    MPI::Request requests[4];
    int mine = rank, got[4] = {-1, -1, -1, -1}, indices[4], index = -1;

    requests[0] = COMM_SELF.Irecv(got, 1, MPI::INT, 0, 1);
    line("test before", requests[0].Test(), requests[0].Test(status), requests[0].Get_status(), requests[0].Get_status(status));
    COMM_SELF.Send(&mine, 1, MPI::INT, 0, 1);
    while (!requests[0].Get_status(status))
        ;
    line("get_status", status.Get_tag(), requests[0].Get_status());
    bool done = requests[0].Test(status);
    line("test", done, status.Get_source(), got[0], requests[0] != MPI::REQUEST_NULL);

    requests[0] = COMM_SELF.Irecv(got, 1, MPI::INT, 0, 2);
    requests[0].Cancel();
    requests[0].Wait(status);
    line("cancelled", status.Is_cancelled());
    requests[0] = COMM_SELF.Isend(&mine, 1, MPI::INT, 0, 3);
    requests[0].Free();
    COMM_SELF.Recv(got, 1, MPI::INT, 0, 3);
    line("freed", requests[0] == MPI::REQUEST_NULL, got[0]);

    MPI::Prequest persistent[6] = {
        COMM_SELF.Send_init(&mine, 1, MPI::INT, 0, 4),  COMM_SELF.Recv_init(&got[0], 1, MPI::INT, 0, 4),
        COMM_SELF.Ssend_init(&mine, 1, MPI::INT, 0, 5), COMM_SELF.Recv_init(&got[1], 1, MPI::INT, 0, 5),
        COMM_SELF.Rsend_init(&mine, 1, MPI::INT, 0, 6), COMM_SELF.Recv_init(&got[2], 1, MPI::INT, 0, 6),
    };
    for (int round = 0; round < 2; round++) {
        mine = 1000 * round + rank;
        persistent[5].Start();
        MPI::Prequest::Startall(5, persistent);
        for (int i = 0; i < 6; i++)
            persistent[i].Wait();
        line("persistent", list(got, 3));
    }
    const int room = sizeof(int) + MPI::BSEND_OVERHEAD;
    MPI::Attach_buffer(std::malloc(room), room);
    MPI::Prequest buffered = COMM_SELF.Bsend_init(&mine, 1, MPI::INT, 0, 7);
    buffered.Start();
    buffered.Wait();
    COMM_SELF.Recv(got, 1, MPI::INT, 0, 7);
    void *buffer;
    MPI::Detach_buffer(buffer);
    std::free(buffer);
    buffered.Free();
    for (int i = 0; i < 6; i++)
        persistent[i].Free();

    for (int form = 0; form < 6; form++) {
        for (int i = 0; i < 4; i++)
            requests[i] = COMM_SELF.Irecv(&got[i], 1, MPI::INT, 0, 30 + i);
        bool any = MPI::Request::Testany(4, requests, index);
        line("not yet", MPI::Request::Testall(4, requests), any, index == MPI::UNDEFINED,
             MPI::Request::Testsome(4, requests, indices), MPI::Request::Testsome(4, requests, indices, statuses));
        mine = 7 * rank + form;
        COMM_SELF.Send(&mine, 1, MPI::INT, 0, 32);
        if (form == 0)
            index = MPI::Request::Waitany(4, requests);
        if (form == 1)
            index = MPI::Request::Waitany(4, requests, status);
        if (form == 2)
            while (!MPI::Request::Testany(4, requests, index))
                ;
        if (form == 3)
            while (!MPI::Request::Testany(4, requests, index, status))
                ;
        if (form == 4)
            index = MPI::Request::Waitsome(4, requests, indices) == 1 ? indices[0] : -1;
        if (form == 5)
            index = MPI::Request::Waitsome(4, requests, indices, statuses) == 1 ? indices[0] : -1;
        line("one of four", form, index, got[2], status.Get_tag(), requests[2] == MPI::REQUEST_NULL);
        for (int i = 0; i < 4; i++)
            if (i != 2)
                COMM_SELF.Send(&mine, 1, MPI::INT, 0, 30 + i);
        if (form % 2)
            MPI::Request::Waitall(4, requests, statuses);
        else
            while (form ? !MPI::Request::Testall(4, requests) : !MPI::Request::Testall(4, requests, statuses))
                ;
        line("all of four", list(got, 4), statuses[3].Get_tag(), statuses[3].Get_error() == MPI::SUCCESS);
    }
}

static int query(void *state, MPI::Status &status)
{
    status.Set_elements(MPI::INT, 3);
    status.Set_cancelled(*static_cast<int *>(state) == 2);
    status.Set_source(42);
    status.Set_tag(43);
    return MPI::SUCCESS;
}
static int free_state(void *state)
{
    *static_cast<int *>(state) = 5;
    return MPI::SUCCESS;
}
static int cancel(void *state, bool complete)
{
    *static_cast<int *>(state) = complete ? 1 : 2;
    return MPI::SUCCESS;
}

static void generalized_requests()
{
    for (int cancels = 0; cancels < 2; cancels++) {
        int state = 0;
        MPI::Status status;
        MPI::Grequest request = MPI::Grequest::Start(query, free_state, cancel, &state);
        line("grequest before", request.Test());
        if (cancels)
            request.Cancel();
        line("grequest state", state);
        request.Complete();
        request.Wait(status);
        line("grequest", status.Get_source(), status.Get_tag(), status.Get_count(MPI::INT), status.Is_cancelled(), state);
    }
    MPI::Status status;
    status.Set_error(MPI::ERR_RANK);
    MPI_Status c = status;
    line("status", c.MPI_ERROR == MPI_ERR_RANK);
}

// ---- collectives ----

static void add(const void *in, void *inout, int count, const MPI::Datatype &datatype)
{
    int width = datatype.Get_size() / static_cast<int>(sizeof(int));
    for (int i = 0; i < count * width; i++)
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
}
static void first(const void *in, void *inout, int count, const MPI::Datatype &datatype)
{
    int lower, length;
    char name[MPI::MAX_OBJECT_NAME];
    datatype.Get_name(name, lower);
    length = datatype.Get_size();
    std::memcpy(inout, in, static_cast<size_t>(count) * length);
}

static void collectives()
{
    int mine[4], all[16], counts[4], displs[4], zeros[4] = {0, 0, 0, 0}, one[4];
    for (int i = 0; i < size; i++) {
        mine[i] = 10 * rank + i;
        counts[i] = one[i] = 1;
        displs[i] = i;
    }
    int value = rank == 1 ? 77 : 0;
    COMM_WORLD.Bcast(&value, 1, MPI::INT, 1);
    line("bcast", value);
    COMM_WORLD.Gather(mine, 2, MPI::INT, all, 2, MPI::INT, 2);
    if (rank == 2)
        line("gather", list(all, 2 * size));
    for (int i = 0; i < size; i++)
        displs[i] = 2 * (size - 1 - i);
    COMM_WORLD.Gatherv(mine, 1, MPI::INT, all, counts, displs, MPI::INT, 0);
    if (rank == 0)
        line("gatherv", all[0], all[2], all[4], all[6]);
    COMM_WORLD.Allgather(mine, 1, MPI::INT, all, 1, MPI::INT);
    line("allgather", list(all, size));
    COMM_WORLD.Allgatherv(mine, 1, MPI::INT, all, counts, displs, MPI::INT);
    line("allgatherv", all[0], all[2], all[4], all[6]);
    for (int i = 0; i < 16; i++)
        all[i] = 50 + i;
    COMM_WORLD.Scatter(all, 2, MPI::INT, mine, 2, MPI::INT, 3);
    line("scatter", list(mine, 2));
    COMM_WORLD.Scatterv(all, counts, displs, MPI::INT, mine, 1, MPI::INT, 3);
    line("scatterv", mine[0]);
    for (int i = 0; i < size; i++) {
        mine[i] = 10 * rank + i;
        displs[i] = i;
    }
    COMM_WORLD.Alltoall(mine, 1, MPI::INT, all, 1, MPI::INT);
    line("alltoall", list(all, size));
    COMM_WORLD.Alltoallv(mine, one, displs, MPI::INT, all, one, displs, MPI::INT);
    line("alltoallv", list(all, size));
    MPI::Datatype types[4] = {MPI::INT, MPI::INT, MPI::INT, MPI::INT};
    for (int i = 0; i < size; i++)
        displs[i] = i * static_cast<int>(sizeof(int));
    COMM_WORLD.Alltoallw(mine, one, displs, types, all, one, displs, types);
    line("alltoallw", list(all, size));

    MPI::Op sum, last;
    sum.Init(add, true);
    last.Init(first, false);
    line("op", sum.Is_commutative(), last.Is_commutative(), MPI::SUM.Is_commutative());
    COMM_WORLD.Reduce(mine, all, 4, MPI::INT, sum, 1);
    if (rank == 1)
        line("reduce", list(all, 4));
    COMM_WORLD.Allreduce(mine, all, 4, MPI::INT, sum);
    line("allreduce", list(all, 4));
    COMM_WORLD.Allreduce(MPI::IN_PLACE, all, 2, MPI::INT, MPI::MAX);
    line("in place", list(all, 2));
    COMM_WORLD.Reduce_scatter(mine, all, one, MPI::INT, MPI::SUM);
    line("reduce_scatter", all[0]);
    COMM_WORLD.Scan(mine, all, 1, MPI::INT, last);
    line("scan", all[0]);
    COMM_WORLD.Exscan(mine, all, 1, MPI::INT, MPI::PROD);
    line("exscan", rank ? all[0] : 0);
    MPI::Datatype pair = MPI::INT.Create_contiguous(2);
    pair.Commit();
    COMM_WORLD.Allreduce(mine, all, 2, pair, sum);
    line("allreduce of pairs", list(all, 4));
    sum.Reduce_local(mine, zeros, 4, MPI::INT);
    line("reduce_local", list(zeros, 4));
    pair.Free();
    sum.Free();
    last.Free();
    line("op freed", sum == MPI::OP_NULL);

    int bits = 1 << rank;
    const MPI::Op *const ops[] = {&MPI::MAX,  &MPI::MIN, &MPI::SUM,  &MPI::PROD, &MPI::BAND,
                                  &MPI::BOR, &MPI::BXOR, &MPI::LAND, &MPI::LOR,  &MPI::LXOR};
    for (const MPI::Op *op : ops) {
        COMM_WORLD.Allreduce(&bits, &value, 1, MPI::INT, *op);
        line("predefined op", value);
    }
    int where[2] = {rank % 3, rank}, best[2];
    COMM_WORLD.Allreduce(where, best, 1, MPI::TWOINT, MPI::MAXLOC);
    line("maxloc", list(best, 2));
    COMM_WORLD.Allreduce(where, best, 1, MPI::TWOINT, MPI::MINLOC);
    line("minloc", list(best, 2));
}

// ---- datatypes ----

#define TYPES(X)                                                                                                       \
    X(CHAR) X(SHORT) X(INT) X(LONG) X(SIGNED_CHAR) X(UNSIGNED_CHAR) X(UNSIGNED_SHORT) X(UNSIGNED) X(UNSIGNED_LONG)     \
    X(FLOAT) X(DOUBLE) X(LONG_DOUBLE) X(BYTE) X(PACKED) X(WCHAR) X(LONG_LONG) X(LONG_LONG_INT) X(UNSIGNED_LONG_LONG)   \
    X(BOOL) X(COMPLEX) X(DOUBLE_COMPLEX) X(LONG_DOUBLE_COMPLEX) X(FLOAT_INT) X(DOUBLE_INT) X(LONG_INT) X(TWOINT)       \
    X(SHORT_INT) X(LONG_DOUBLE_INT) X(INTEGER) X(REAL) X(DOUBLE_PRECISION) X(F_COMPLEX) X(F_DOUBLE_COMPLEX) X(LOGICAL) \
    X(CHARACTER) X(TWOREAL) X(TWODOUBLE_PRECISION) X(TWOINTEGER) X(INTEGER1) X(REAL4) X(REAL8)

static void describe(const char *name, MPI::Datatype type)
{
    MPI::Aint lb, extent, true_lb, true_extent;
    type.Get_extent(lb, extent);
    type.Get_true_extent(true_lb, true_extent);
    int integers, addresses, datatypes, combiner;
    type.Get_envelope(integers, addresses, datatypes, combiner);
    line(name, type.Get_size(), lb, extent, true_lb, true_extent, integers, addresses, datatypes, combiner);
    type.Commit();
    type.Free();
    line("freed", type == MPI::DATATYPE_NULL);
}

static void datatypes()
{
#define SHOW(name) line(#name, MPI::name.Get_size());
    TYPES(SHOW)
    // Open MPI's have the sizes of other types
    line("sized", MPI::INTEGER2 != MPI::DATATYPE_NULL, MPI::INTEGER4 != MPI::DATATYPE_NULL);

    int lengths[2] = {1, 2}, displacements[2] = {3, 0};
    MPI::Aint bytes[2] = {32, 0};
    MPI::Datatype types[2] = {MPI::DOUBLE, MPI::CHAR};
    describe("contiguous", MPI::INT.Create_contiguous(3));
    describe("vector", MPI::INT.Create_vector(3, 2, 4));
    describe("hvector", MPI::INT.Create_hvector(3, 2, 20));
    describe("indexed", MPI::INT.Create_indexed(2, lengths, displacements));
    describe("hindexed", MPI::INT.Create_hindexed(2, lengths, bytes));
    describe("indexed_block", MPI::INT.Create_indexed_block(2, 1, displacements));
    describe("struct", MPI::Datatype::Create_struct(2, lengths, bytes, types));
    describe("resized", MPI::INT.Create_resized(-4, 24));
    describe("dup", MPI::DOUBLE.Dup());
    int sizes[2] = {5, 6}, subsizes[2] = {2, 3}, starts[2] = {1, 2};
    describe("subarray", MPI::INT.Create_subarray(2, sizes, subsizes, starts, MPI::ORDER_C));
    int distribs[2] = {MPI::DISTRIBUTE_BLOCK, MPI::DISTRIBUTE_CYCLIC}, psizes[2] = {2, 2};
    int dargs[2] = {MPI::DISTRIBUTE_DFLT_DARG, MPI::DISTRIBUTE_DFLT_DARG};
    describe("darray", MPI::INT.Create_darray(4, 1, 2, sizes, distribs, dargs, psizes, MPI::ORDER_FORTRAN));
    line("match_size", MPI::Datatype::Match_size(MPI::TYPECLASS_REAL, 8).Get_size());
    line("f90", MPI::Datatype::Create_f90_integer(5).Get_size(), MPI::Datatype::Create_f90_real(10, 30).Get_size(),
         MPI::Datatype::Create_f90_complex(10, 30).Get_size());

    MPI::Datatype vector = MPI::INT.Create_vector(3, 1, 2);
    vector.Commit();
    int integers[3];
    MPI::Aint addresses[1];
    MPI::Datatype inner[1];
    vector.Get_contents(3, 0, 1, integers, addresses, inner);
    line("contents", list(integers, 3), inner[0] == MPI::INT);
    vector.Set_name("every other");
    char name[MPI::MAX_OBJECT_NAME];
    int length;
    vector.Get_name(name, length);
    line("name", name, length);

    int from[5] = {rank, -1, rank + 1, -1, rank + 2}, to[5] = {0, 0, 0, 0, 0}, position = 0;
    char packed[64];
    vector.Pack(from, 1, packed, sizeof packed, position, COMM_WORLD);
    int end = position;
    position = 0;
    vector.Unpack(packed, end, to, 1, position, COMM_WORLD);
    line("packed", end, position, vector.Pack_size(1, COMM_WORLD) >= end, list(to, 5));
    MPI::Aint at = 0;
    vector.Pack_external("external32", from, 1, packed, sizeof packed, at);
    MPI::Aint stop = at;
    std::memset(to, 0, sizeof to);
    at = 0;
    vector.Unpack_external("external32", packed, stop, at, to, 1);
    line("packed for all", stop, at, vector.Pack_external_size("external32", 1), list(to, 5));
    vector.Free();

    std::complex<double> z(rank, 1), product;
    COMM_WORLD.Allreduce(&z, &product, 1, MPI::DOUBLE_COMPLEX, MPI::SUM);
    line("complex", product.real(), product.imag());
    int there = 5;
    line("address", MPI::Get_address(&there) == reinterpret_cast<MPI::Aint>(&there), MPI::BOTTOM == NULL);
}

// ---- groups, communicators ----

static void groups()
{
    MPI::Group world = COMM_WORLD.Get_group();
    int some[2] = {2, 0}, range[1][3] = {{3, 1, -2}}, ranks[4], wanted[4] = {0, 1, 2, 3};
    MPI::Group incl = world.Incl(2, some), excl = world.Excl(2, some), range_incl = world.Range_incl(1, range),
               range_excl = world.Range_excl(1, range);
    const MPI::Group *all[] = {&world, &incl, &excl, &range_incl, &range_excl, &MPI::GROUP_EMPTY};
    for (const MPI::Group *group : all) {
        int count = group->Get_size();
        MPI::Group::Translate_ranks(*group, count, wanted, world, ranks);
        line("group", count, group->Get_rank(), list(ranks, count));
    }
    MPI::Group both = MPI::Group::Union(incl, excl), none = MPI::Group::Intersect(incl, excl),
               rest = MPI::Group::Difference(world, excl);
    line("sets", both.Get_size(), none == MPI::GROUP_EMPTY, none.Get_size(), rest.Get_size(),
         MPI::Group::Compare(world, both) == MPI::SIMILAR, MPI::Group::Compare(incl, rest) == MPI::SIMILAR);
    MPI::Intracomm part = COMM_WORLD.Create(incl);
    line("create", part == MPI::COMM_NULL);
    if (part != MPI::COMM_NULL) {
        line("created", part.Get_size(), part.Get_rank(), MPI::Comm::Compare(part, COMM_WORLD) == MPI::UNEQUAL);
        part.Free();
    }
    incl.Free();
    line("group freed", incl == MPI::GROUP_NULL);
    MPI::Group more[] = {world, excl, range_incl, range_excl, both, rest};
    for (MPI::Group &group : more)
        group.Free();
}

static void communicators()
{
    MPI::Intracomm copy = COMM_WORLD.Dup();
    copy.Set_name("a copy");
    char name[MPI::MAX_OBJECT_NAME];
    int length;
    copy.Get_name(name, length);
    line("name", name, length, copy.Get_topology() == MPI::UNDEFINED, copy.Is_inter());
    line("compare", MPI::Comm::Compare(copy, COMM_WORLD) == MPI::CONGRUENT, MPI::Comm::Compare(copy, copy) == MPI::IDENT);
    MPI::Comm &clone = copy.Clone();
    line("clone", typeid(clone) == typeid(MPI::Intracomm), clone.Get_size(), clone.Get_rank());
    clone.Free();
    line("clone freed", clone == MPI::COMM_NULL);
    delete &clone;
    MPI::Intracomm half = COMM_WORLD.Split(rank % 2, -rank);
    line("split", half.Get_size(), half.Get_rank());

    MPI::Intercomm inter = half.Create_intercomm(0, COMM_WORLD, rank % 2 ? 2 : 3, 5);
    line("inter", inter.Is_inter(), inter.Get_size(), inter.Get_remote_size());
    MPI::Group remote = inter.Get_remote_group(), world = COMM_WORLD.Get_group();
    int wanted[2] = {0, 1}, ranks[2];
    MPI::Group::Translate_ranks(remote, 2, wanted, world, ranks);
    line("remote", list(ranks, 2));
    int mine = rank, sum = -1;
    inter.Allreduce(&mine, &sum, 1, MPI::INT, MPI::SUM);
    line("inter allreduce", sum);
    MPI::Intracomm merged = inter.Merge(rank % 2);
    line("merged", merged.Get_size(), merged.Get_rank());
    MPI::Intercomm twin = inter.Dup(), part = inter.Split(0, -rank), same = inter.Create(inter.Get_group());
    MPI::Intercomm &cloned = inter.Clone();
    line("intercomms", twin.Get_remote_size(), part.Get_rank(), same.Get_remote_size(), cloned.Get_remote_size(),
         typeid(cloned) == typeid(MPI::Intercomm));
    MPI::Intracomm wrong(static_cast<MPI_Comm>(inter));
    line("an intercommunicator is no Intracomm", wrong == MPI::COMM_NULL);
    MPI::Comm_Null none(MPI_COMM_NULL);
    line("Comm_Null", none == MPI::COMM_NULL, MPI::COMM_NULL != COMM_WORLD);
    twin.Free();
    part.Free();
    same.Free();
    cloned.Free();
    delete &cloned;
    merged.Free();
    inter.Disconnect();
    line("disconnected", inter == MPI::COMM_NULL);
    half.Free();
    copy.Free();
    line("parent", MPI::Comm::Get_parent() == MPI::COMM_NULL);
}

static void topologies()
{
    int dims[2] = {0, 2};
    MPI::Compute_dims(size, 2, dims);
    bool periods[2] = {true, false}, remain[2] = {false, true};
    MPI::Cartcomm cart = COMM_WORLD.Create_cart(2, dims, periods, false);
    int coords[2], got[2], source, dest;
    bool got_periods[2] = {false, true};
    cart.Get_topo(2, got, got_periods, coords);
    line("cart", cart.Get_topology() == MPI::CART, cart.Get_dim(), list(got, 2), got_periods[0], got_periods[1], list(coords, 2));
    cart.Get_coords(size - 1, 2, coords);
    cart.Shift(0, 1, source, dest);
    line("shift", list(coords, 2), cart.Get_cart_rank(coords), source, dest);
    MPI::Cartcomm row = cart.Sub(remain), &clone = cart.Clone(), twin = cart.Dup();
    line("sub", row.Get_size(), row.Get_rank(), row.Get_dim(), clone.Get_dim(), twin.Get_dim(),
         typeid(clone) == typeid(MPI::Cartcomm));
    int place = COMM_WORLD.Create_cart(2, dims, periods, false).Map(2, dims, periods);
    line("map", place >= 0 && place < size);
    MPI::Cartcomm no_cart(static_cast<MPI_Comm>(COMM_WORLD));
    line("world is no Cartcomm", no_cart == MPI::COMM_NULL);
    row.Free();
    clone.Free();
    delete &clone;
    twin.Free();
    cart.Free();

    int index[4] = {1, 3, 5, 6}, edges[6] = {1, 0, 2, 1, 3, 2}, nodes, count;
    MPI::Graphcomm graph = COMM_WORLD.Create_graph(4, index, edges, false);
    graph.Get_dims(&nodes, &count);
    int got_index[4], got_edges[6], neighbors[2];
    graph.Get_topo(4, 6, got_index, got_edges);
    int degree = graph.Get_neighbors_count(rank);
    graph.Get_neighbors(rank, degree, neighbors);
    line("graph", graph.Get_topology() == MPI::GRAPH, nodes, count, list(got_index, 4), list(got_edges, 6), list(neighbors, degree));
    MPI::Graphcomm &copy = graph.Clone(), another = graph.Dup();
    copy.Get_dims(&nodes, &count);
    place = graph.Map(4, index, edges);
    line("graph copies", nodes, count, another.Get_neighbors_count(0), typeid(copy) == typeid(MPI::Graphcomm),
         place >= 0 && place < size);
    copy.Free();
    delete &copy;
    another.Free();
    graph.Free();
}

// ---- attributes ----

template <typename Class> static const char *kind_of(const Class &comm)
{
    return typeid(comm) == typeid(MPI::Intracomm)   ? "Intracomm"
           : typeid(comm) == typeid(MPI::Cartcomm)  ? "Cartcomm"
           : typeid(comm) == typeid(MPI::Graphcomm) ? "Graphcomm"
           : typeid(comm) == typeid(MPI::Intercomm) ? "Intercomm"
                                                    : "?";
}
static int copies_comm(const MPI::Comm &comm, int, void *state, void *value, void *copy, bool &flag)
{
    line("copies attribute of", kind_of(comm), comm.Get_size(), *static_cast<int *>(state), *static_cast<int *>(value));
    *static_cast<void **>(copy) = static_cast<int *>(value) + 1;
    flag = *static_cast<int *>(value) < 4;
    return MPI::SUCCESS;
}
static int deletes_comm(MPI::Comm &comm, int, void *value, void *state)
{
    line("deletes attribute of", kind_of(comm), comm.Get_rank(), *static_cast<int *>(state), *static_cast<int *>(value));
    return MPI::SUCCESS;
}
static int c_copies_comm(MPI_Comm, int, void *state, void *value, void *copy, int *flag)
{
    line("C copies", *static_cast<int *>(state), *static_cast<int *>(value));
    *static_cast<void **>(copy) = value;
    *flag = 1;
    return MPI_SUCCESS;
}
static int c_deletes_comm(MPI_Comm, int, void *value, void *state)
{
    line("C deletes", *static_cast<int *>(state), *static_cast<int *>(value));
    return MPI_SUCCESS;
}
static int copies_type(const MPI::Datatype &type, int, void *state, const void *value, void *copy, bool &flag)
{
    line("copies attribute of type", type.Get_size(), *static_cast<int *>(state), *static_cast<const int *>(value));
    *static_cast<const void **>(copy) = value;
    flag = true;
    return MPI::SUCCESS;
}
static int deletes_type(MPI::Datatype &type, int, void *value, void *state)
{
    line("deletes attribute of type", type.Get_size(), *static_cast<int *>(state), *static_cast<int *>(value));
    return MPI::SUCCESS;
}
static int c_copies_type(MPI_Datatype, int, void *state, void *value, void *copy, int *flag)
{
    return c_copies_comm(MPI_COMM_NULL, 0, state, value, copy, flag);
}
static int c_deletes_type(MPI_Datatype, int, void *value, void *state)
{
    return c_deletes_comm(MPI_COMM_NULL, 0, value, state);
}
static int refuses(const MPI::Datatype &, int, void *, const void *, void *, bool &)
{
    return MPI::ERR_OTHER;
}

static int state = 9, values[8] = {0, 1, 2, 3, 4, 5, 6, 7}, at_the_end;

static void attributes()
{
    int keyvals[4] = {MPI::Comm::Create_keyval(copies_comm, deletes_comm, &state),
                      MPI::Comm::Create_keyval(c_copies_comm, c_deletes_comm, &state),
                      MPI::Comm::Create_keyval(copies_comm, c_deletes_comm, &state),
                      MPI::Comm::Create_keyval(c_copies_comm, deletes_comm, &state)};
    for (int i = 0; i < 4; i++) {
        MPI::Intracomm comm = COMM_WORLD.Dup();
        comm.Set_attr(keyvals[i], &values[1]);
        int *value = NULL;
        bool found = comm.Get_attr(keyvals[i], &value);
        line("attribute", found, *value, COMM_WORLD.Get_attr(keyvals[i], &value));
        MPI::Intracomm copy = comm.Dup();
        comm.Delete_attr(keyvals[i]);
        line("deleted", comm.Get_attr(keyvals[i], &value));
        comm.Free();
        found = copy.Get_attr(keyvals[i], &value);
        line("copied", found, *value);
        copy.Free();
    }
    int dims[1] = {size}, index[4] = {0, 0, 0, 0}, edges[1] = {0};
    bool periods[1] = {false};
    MPI::Cartcomm cart = COMM_WORLD.Create_cart(1, dims, periods, false);
    MPI::Graphcomm graph = COMM_WORLD.Create_graph(4, index, edges, false);
    MPI::Intracomm half = COMM_WORLD.Split(rank / 2, 0);
    MPI::Intercomm inter = half.Create_intercomm(0, COMM_WORLD, rank / 2 ? 0 : 2, 5);
    MPI::Comm *comms[3] = {&cart, &graph, &inter};
    for (MPI::Comm *comm : comms) {
        comm->Set_attr(keyvals[0], &values[2]);
        MPI::Comm &copy = comm->Clone();
        copy.Free();
        delete &copy;
        comm->Free();
    }
    half.Free();
    for (int &keyval : keyvals)
        MPI::Comm::Free_keyval(keyval);
    line("keyval freed", keyvals[0] == MPI::KEYVAL_INVALID);

    int types[4] = {MPI::Datatype::Create_keyval(copies_type, deletes_type, &state),
                    MPI::Datatype::Create_keyval(c_copies_type, c_deletes_type, &state),
                    MPI::Datatype::Create_keyval(copies_type, c_deletes_type, &state),
                    MPI::Datatype::Create_keyval(c_copies_type, deletes_type, &state)};
    for (int &keyval : types) {
        MPI::Datatype type = MPI::INT.Create_contiguous(3);
        type.Set_attr(keyval, &values[5]);
        MPI::Datatype copy = type.Dup();
        int *value = NULL;
        bool found = copy.Get_attr(keyval, &value);
        line("copied", found, *value);
        type.Delete_attr(keyval);
        line("deleted", type.Get_attr(keyval, &value));
        type.Free();
        copy.Free();
        MPI::Datatype::Free_keyval(keyval);
    }
    int *tag_ub = NULL;
    bool found = COMM_WORLD.Get_attr(MPI::TAG_UB, &tag_ub);
    line("TAG_UB", found, *tag_ub >= 32767);

    // many keyvals, one after the other
    for (int i = 0; i < 1000; i++) {
        int keyval = MPI::Datatype::Create_keyval(refuses, deletes_type, &state);
        MPI::Datatype::Free_keyval(keyval);
    }
    at_the_end = MPI::Comm::Create_keyval(copies_comm, c_deletes_comm, &state);
    COMM_SELF.Set_attr(at_the_end, &values[7]);
}

// ---- errors ----

static void handles_error(MPI::Comm &comm, int *code, ...)
{
    va_list arguments;
    va_start(arguments, code);
    const char *message = va_arg(arguments, const char *);
    va_end(arguments);
    line("handler of", kind_of(comm), comm.Get_size(), MPI::Get_error_class(*code) == MPI::ERR_RANK, message != NULL);
}
// Open MPI gives a handler of an intercommunicator a null Intracomm.
static void handles_otherwise(MPI::Comm &, int *code, ...)
{
    line("other handler", MPI::Get_error_class(*code) == MPI::ERR_RANK);
}

static void errors()
{
    int mine = 0;
    MPI::Intracomm comm = COMM_WORLD.Dup();
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(handles_error),
                    other = MPI::Comm::Create_errhandler(handles_otherwise);
    comm.Set_errhandler(handler);
    handler.Free();
    line("handler freed", handler == MPI::ERRHANDLER_NULL);
    comm.Send(&mine, 1, MPI::INT, size + 7, 0);
    comm.Call_errhandler(MPI::ERR_RANK);
    MPI::Intracomm copy = comm.Dup();
    copy.Send(&mine, 1, MPI::INT, -77, 0);
    copy.Set_errhandler(other);
    copy.Send(&mine, 1, MPI::INT, size + 7, 0);
    comm.Send(&mine, 1, MPI::INT, size + 7, 0);
    MPI::Intracomm half = COMM_WORLD.Split(rank / 2, 0);
    MPI::Intercomm inter = half.Create_intercomm(0, COMM_WORLD, rank / 2 ? 0 : 2, 5);
    inter.Set_errhandler(other);
    inter.Send(&mine, 1, MPI::INT, size + 7, 0);
    handler = inter.Get_errhandler();
    line("get_errhandler", handler == other);
    handler.Free();
    other.Free();
    inter.Free();
    half.Free();

    copy.Set_errhandler(MPI::ERRORS_RETURN);
    copy.Send(&mine, 1, MPI::INT, size + 7, 0);
    line("after ERRORS_RETURN", copy.Get_errhandler() == MPI::ERRORS_RETURN);
    MPI::mpi_errno = MPI::SUCCESS;
    copy.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    copy.Send(&mine, 1, MPI::INT, size + 7, 0);
    line("mpi_errno", MPI::Get_error_class(MPI::mpi_errno) == MPI::ERR_RANK);
    MPI::Exception exception(MPI::mpi_errno);
    line("exception", exception.Get_error_class() == MPI::ERR_RANK, std::strlen(exception.Get_error_string()) > 0);
    copy.Free();
    comm.Free();
    handler = COMM_WORLD.Get_errhandler();
    line("world's", handler == MPI::ERRORS_ARE_FATAL);

    // many handlers, one after the other
    for (int i = 0; i < 1000; i++) {
        handler = MPI::Comm::Create_errhandler(handles_error);
        handler.Free();
    }
    int error_class = MPI::Add_error_class(), code = MPI::Add_error_code(error_class), length;
    char text[MPI::MAX_ERROR_STRING];
    MPI::Add_error_string(code, "all wrong");
    MPI::Get_error_string(code, text, length);
    line("error string", text, length, MPI::Get_error_class(code) == error_class);
}

// ---- the rest ----

static void environment()
{
    int version, subversion, length, nkeys;
    char name[MPI::MAX_PROCESSOR_NAME], key[MPI::MAX_INFO_KEY + 1], value[MPI::MAX_INFO_VAL + 1];
    MPI::Get_version(version, subversion);
    MPI::Get_processor_name(name, length);
    line("environment", version >= 3, subversion >= 0, length > 0, MPI::Is_initialized(), MPI::Is_finalized(), MPI::Is_thread_main(),
         MPI::Query_thread() >= MPI::THREAD_SINGLE, MPI::Wtime() >= 0, MPI::Wtick() > 0);
    MPI::Pcontrol(1);
    void *memory = MPI::Alloc_mem(100, MPI::INFO_NULL);
    line("memory", memory != NULL);
    MPI::Free_mem(memory);

    MPI::Info info = MPI::Info::Create();
    info.Set("colour", "red");
    info.Set("size", "large");
    info.Delete("size");
    MPI::Info copy = info.Dup();
    nkeys = copy.Get_nkeys();
    copy.Get_nthkey(0, key);
    bool found = copy.Get(key, MPI::MAX_INFO_VAL, value), valuelen = copy.Get_valuelen("colour", length);
    line("info", nkeys, key, found, value, valuelen, length, copy.Get("size", 5, name), copy.Get_valuelen("size", nkeys));
    info.Free();
    copy.Free();
    line("info freed", info == MPI::INFO_NULL);
    line("null handles", MPI::WIN_NULL == MPI_WIN_NULL, MPI::FILE_NULL == MPI_FILE_NULL, MPI::ARGV_NULL == MPI_ARGV_NULL,
         MPI::ARGVS_NULL == MPI_ARGVS_NULL, MPI::IN_PLACE == MPI_IN_PLACE, MPI::ompi_libcxx_version_string);
}

// Every rank's lines on rank 0, in the order of ranks.
static void print()
{
    std::string text = out.str();
    int length = static_cast<int>(text.size());
    if (rank) {
        COMM_WORLD.Send(&length, 1, MPI::INT, 0, 99);
        COMM_WORLD.Send(text.data(), length, MPI::CHAR, 0, 99);
        return;
    }
    std::fputs(text.c_str(), stdout);
    for (int i = 1; i < size; i++) {
        COMM_WORLD.Recv(&length, 1, MPI::INT, i, 99);
        std::string other(length, ' ');
        COMM_WORLD.Recv(&other[0], length, MPI::CHAR, i, 99);
        std::fputs(other.c_str(), stdout);
    }
}

extern "C" int call_bindings(int argc, char **argv)
{
    if (argc > 1)
        MPI::Init_thread(argc, argv, MPI::THREAD_MULTIPLE);
    else
        MPI::Init(argc, argv);
    rank = COMM_WORLD.Get_rank();
    size = COMM_WORLD.Get_size();
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    if (size != 4) {
        std::fprintf(stderr, "run it on 4 ranks\n");
        COMM_WORLD.Abort(1);
    }
    messages();
    requests();
    generalized_requests();
    collectives();
    datatypes();
    groups();
    communicators();
    topologies();
    attributes();
    errors();
    environment();
    print();
    out.str("");
    MPI::Finalize();
    // what was called in it
    std::fputs(rank == 0 ? out.str().c_str() : "", stdout);
    return 0;
}

#ifndef NO_MAIN
int main(int argc, char **argv)
{
    return call_bindings(argc, argv);
}
#endif
