// SPDX-License-Identifier: BSD-3-Clause

// Objects through Boost.MPI: serialised messages, user-defined operations and types, skeletons, split communicators,
// a Cartesian topology, and an MPI error that arrives as a C++ exception.
#include <boost/mpi.hpp>
#include <boost/mpi/cartesian_communicator.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace mpi = boost::mpi;

struct reading {
    int station;
    double value;

    template <class archive> void serialize(archive &a, unsigned)
    {
        a &station &value;
    }
};
BOOST_IS_MPI_DATATYPE(reading)

struct larger {
    reading operator()(const reading &a, const reading &b) const
    {
        return a.value < b.value ? b : a;
    }
};

// not commutative
struct concatenate {
    std::string operator()(const std::string &a, const std::string &b) const
    {
        return a + b;
    }
};

static int failures;

static void expect(bool holds, const char *what, int rank)
{
    if (!holds) {
        std::cout << "rank " << rank << ": " << what << std::endl;
        failures++;
    }
}

static void pass_objects_round(const mpi::communicator &world)
{
    int rank = world.rank(), size = world.size();
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    using catalogue = std::map<std::string, std::vector<double>>;
    catalogue sent{{"short", {1.0 * rank}}, {"long", std::vector<double>(20000, 0.5 + rank)}}, received;

    mpi::request requests[2] = {world.irecv(previous, 7, received), world.isend(next, 7, sent)};
    mpi::wait_all(requests, requests + 2);
    expect(received["long"].size() == 20000 && received["long"].back() == 0.5 + previous, "serialised map", rank);
    expect(received["short"] == std::vector<double>{1.0 * previous}, "its short part", rank);
}

static void reduce_objects(const mpi::communicator &world)
{
    int rank = world.rank(), size = world.size();
    reading largest = mpi::all_reduce(world, reading{rank, (rank * 3) % 5 + 0.25}, larger());
    double best = 0;
    for (int i = 0; i < size; i++) {
        best = std::max(best, (i * 3) % 5 + 0.25);
    }
    expect(largest.value == best && (largest.station * 3) % 5 + 0.25 == best, "largest reading", rank);

    std::string word = mpi::all_reduce(world, std::string(1, char('a' + rank)), concatenate());
    expect(word == std::string("abcdefgh").substr(0, size), "words in rank order", rank);

    std::vector<std::string> all;
    mpi::gather(world, std::string(rank + 1, '#'), all, size - 1);
    expect(rank != size - 1 || (int(all.size()) == size && int(all.back().size()) == size), "gathered strings", rank);

    int below = mpi::scan(world, rank + 1, std::plus<int>());
    expect(below == (rank + 1) * (rank + 2) / 2, "prefix sum", rank);
}

static void send_contents(const mpi::communicator &world)
{
    std::vector<int> numbers(300, world.rank() == 0 ? 42 : 0);
    mpi::broadcast(world, mpi::skeleton(numbers), 0);
    mpi::content content = mpi::get_content(numbers);
    mpi::broadcast(world, content, 0);
    expect(numbers.front() == 42 && numbers.back() == 42, "content of a skeleton", world.rank());
}

static void divide(const mpi::communicator &world)
{
    int rank = world.rank(), size = world.size();
    mpi::communicator half = world.split(rank % 2, -rank);
    expect(half.size() == (size + 1 - rank % 2) / 2, "size of a half", rank);
    expect(mpi::all_reduce(half, rank % 2, mpi::maximum<int>()) == rank % 2, "members of a half", rank);

    mpi::cartesian_communicator circle(world, mpi::cartesian_topology({{size, true}}));
    std::pair<int, int> neighbours = circle.shifted_ranks(0, 1);
    expect(neighbours.first == (rank + size - 1) % size && neighbours.second == (rank + 1) % size, "neighbours", rank);
}

static void raise_error(const mpi::communicator &world)
{
    try {
        world.send(world.size(), 0, 1);
        expect(false, "a send to a rank that is not there was accepted", world.rank());
    } catch (const mpi::exception &e) {
        expect(e.error_class() == MPI_ERR_RANK, "error class of a wrong rank", world.rank());
    }
}

int main(int argc, char **argv)
{
    mpi::environment environment(argc, argv);
    mpi::communicator world;

    pass_objects_round(world);
    reduce_objects(world);
    send_contents(world);
    divide(world);
    raise_error(world);
    int total = mpi::all_reduce(world, failures, std::plus<int>());
    if (world.rank() == 0) {
        std::cout << total << " failures on " << world.size() << " ranks" << std::endl;
    }
    return total != 0;
}
