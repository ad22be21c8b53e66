# SPDX-License-Identifier: BSD-3-Clause
"""What Tern wants to reach within a node, for compare --goals: each goal says what must be measured
and judges it. A ratio is Tern's median to the best peer's of the same run; the verdict is that of the
worst point."""
import math

SMALL, MIDDLE = [0, 1, 2, 4, 8, 16, 32, 64], [512, 1024, 2048, 4096, 8192, 16384]
LARGE = [262144, 524288, 1048576, 2097152, 4194304]
COPIES = [16384 << n for n in range(9)]  # 16 KiB to 4 MiB: what the copies cost
TYPES = [f"{kind}-{block}" for kind in ("vector", "indexed", "subarray") for block in (8, 64, 512)]

# Goal: benchmarks and the rank counts they are needed on.
NEEDS = {
    1: {"latency": [2]},
    2: {"bandwidth": [2], "rate": [2]},
    3: {"matching": [2], "unexpected": [3]},
    4: {"collectives": [4, 8, 16, 64], "crowd": [2, 4, 8, 16, 64]},
    5: {"startup": [64], "memory": [64], "singleton": [1]},
    6: {"types": [2]},
    7: {"overlap": [2], "overlap_thread": [2]},
    8: {"instructions": [2]},
    9: {"dup_free": [2], "dup_free_loaded": [2]},
    10: {"latency": [2], "bandwidth": [2]},
    11: {"collectives": [2, 4, 8]},
}


class Judge:
    """Verdicts over the medians of one run, {(benchmark, ranks, operation, size): {library: value}}."""

    def __init__(self, medians, more_is_better):
        self.medians = medians
        self.more_is_better = more_is_better
        self.lines = []

    def say(self, goal, what, found, wanted, good):
        self.lines.append([str(goal), what, found, wanted,
                           "-" if good is None else "reached" if good else "not reached"])

    def ratios(self, benchmark, operations=None, sizes=None, ranks=None):
        """[(ratio, point)] of what was measured of Tern and of a peer."""
        found = []
        for (name, n, operation, size), (unit, values) in self.medians.items():
            if (name != benchmark or (operations and operation not in operations)
                    or (sizes and size not in sizes) or (ranks and n not in ranks)):
                continue
            peers = [v for library, v in values.items() if library != "tern" and v > 0]
            if "tern" in values and peers:
                best = max(peers) if unit in self.more_is_better else min(peers)
                found.append((values["tern"] / best, f"{operation} {size}"))
        return found

    def ratio(self, goal, what, wanted, *which, **where):
        """Against the best peer; wanted: "<= 0.6" or ">= 1.3"."""
        found = self.ratios(*which, **where)
        if not found:
            return self.say(goal, what, "not measured", wanted, None)
        least = wanted.startswith(">=")
        limit = float(wanted.split()[1])
        worst, point = (min if least else max)(found)
        mean = math.exp(sum(math.log(max(r, 1e-9)) for r, _ in found) / len(found))
        return self.say(goal, what, f"{worst:.2f} ({point}), mean {mean:.2f}", wanted,
                        worst >= limit if least else worst <= limit)

    def mean(self, goal, what, wanted, *which, **where):
        """Against the best peer, the geometric mean over all points."""
        found = self.ratios(*which, **where)
        mean = math.exp(sum(math.log(max(r, 1e-9)) for r, _ in found) / len(found)) if found else None
        return self.value(goal, what, mean, "", wanted)

    def mine(self, benchmark, ranks, operation, size):
        return self.medians.get((benchmark, ranks, operation, size), ("", {}))[1].get("tern")

    def value(self, goal, what, value, unit, wanted):
        """A figure of our own; wanted as in ratio."""
        if value is None:
            return self.say(goal, what, "not measured", wanted, None)
        limit = float(wanted.split()[1])
        return self.say(goal, what, f"{value:.3g} {unit}".strip(), f"{wanted} {unit}".strip(),
                        value >= limit if wanted.startswith(">=") else value <= limit)


def latency(judge):
    for what, wanted, sizes in (("0 to 64 B", "<= 0.6", SMALL), ("512 B to 16 KiB", "<= 0.6", MIDDLE),
                                ("64 KiB", "<= 0.7", [65536]), ("256 KiB to 4 MiB", "<= 0.6", LARGE)):
        judge.ratio(1, f"latency, {what}", wanted, "latency", sizes=sizes)


def bandwidth(judge):
    judge.ratio(2, "bandwidth, 512 B to 16 KiB", ">= 1.3", "bandwidth", ["bandwidth"], [512, 4096, 16384])
    judge.ratio(2, "bandwidth, 64 KiB to 4 MiB", ">= 1.2", "bandwidth", ["bandwidth"],
                [65536, 262144, 1048576, 2097152, 4194304])
    judge.ratio(2, "both ways", ">= 1.0", "bandwidth", ["bandwidth-both-ways"])
    judge.ratio(2, "messages per second", ">= 2", "rate", sizes=[8, 64])


def matching(judge):
    for kind in ("posted", "wild", "unexpected"):
        few = judge.mine("matching", 2, f"match-{kind}", 10)
        many = judge.mine("matching", 2, f"match-{kind}", 100000)
        judge.value(3, f"a match behind 100,000 to one behind 10, {kind}",
                    many / few if few and many else None, "", "<= 2")
    judge.value(3, "an unexpected message, besides its own", judge.mine("unexpected", 3, "unexpected", 8),
                "bytes", "<= 100")
    judge.value(3, "growth of a rank flooded with 64 MiB",
                judge.mine("unexpected", 3, "flood-receiver", 1024), "MiB", "<= 32")


def crowds(judge):
    for ranks in NEEDS[4]["collectives"]:
        judge.ratio(4, f"collectives, {ranks} ranks", "<= 0.7", "collectives", ranks=[ranks])
        judge.ratio(4, f"ring, {ranks} ranks", "<= 0.7", "crowd", ["ring"], ranks=[ranks])
        judge.value(4, f"a blocked rank, {ranks} ranks", judge.mine("crowd", ranks, "idle", ranks), "%", "<= 1")
    judge.value(4, "blocking to spinning, 2 ranks", judge.mine("crowd", 2, "answer", 2), "", "<= 1.1")


def startup(judge):
    judge.ratio(5, "start and end, 64 ranks", "<= 0.5", "startup")
    judge.value(5, "Pss of a rank, 64 ranks", judge.mine("memory", 64, "memory-mean", 64), "MiB", "<= 2")
    judge.value(5, "MPI_Init to MPI_Finalize, singleton", judge.mine("singleton", 1, "singleton", 1), "ms", "<= 10")


def types(judge):
    for size, what in ((65536, "64 KiB"), (4194304, "4 MiB")):
        judge.ratio(6, f"derived types, {what}", "<= 0.6", "types", TYPES, [size])


def overlap(judge):
    for name, how in (("overlap", "no progress thread"), ("overlap_thread", "progress thread")):
        judge.value(7, f"hidden behind computing, {how}", judge.mine(name, 2, "overlap", 4194304), "%", ">= 90")
        judge.value(7, f"hidden off the processor, {how}", judge.mine(name, 2, "overlap-idle", 4194304), "%", ">= 90")


def instructions(judge):
    judge.ratio(8, "instructions of a send and a receive", "<= 1", "instructions", ["instructions-pair"])


def communicators(judge):
    for name, where in (("dup_free", "idle cores"), ("dup_free_loaded", "busy cores")):
        judge.ratio(9, f"MPI_Comm_dup and MPI_Comm_free, {where}", "<= 1", name)


def copies(judge):
    """Ahead of every peer, Intel MPI among them if it is one of the peers."""
    for what, wanted, sizes in (("0 to 64 B", "<= 0.6", SMALL), ("512 B to 8 KiB", "<= 0.75", MIDDLE[:-1]),
                                ("16 KiB to 4 MiB", "<= 0.9", COPIES)):
        judge.ratio(10, f"latency, {what}", wanted, "latency", sizes=sizes)
    for operation in ("bandwidth", "bandwidth-both-ways"):
        judge.ratio(10, f"{operation}, 16 KiB to 4 MiB", ">= 1.11", "bandwidth", [operation], COPIES)


def few_ranks(judge):
    for ranks, mean in ((2, 0.45), (4, 0.4), (8, 0.33)):
        judge.ratio(11, f"collectives, {ranks} ranks, each", "<= 1.0", "collectives", ranks=[ranks])
        judge.mean(11, f"collectives, {ranks} ranks, mean", f"<= {mean}", "collectives", ranks=[ranks])


CHECKS = {1: latency, 2: bandwidth, 3: matching, 4: crowds, 5: startup, 6: types, 7: overlap, 8: instructions,
          9: communicators, 10: copies, 11: few_ranks}


def judge_goals(goals, medians, more_is_better):
    """Rows of text: goal, what, measured, wanted, verdict."""
    judge = Judge(medians, more_is_better)
    for goal in goals:
        CHECKS[goal](judge)
    return judge.lines
