# SPDX-License-Identifier: BSD-3-Clause
"""Prints records of a made-up check: python3 mpicheck_records.py HOSTS. The third host sends slowly, also alone; the second
and the last one cannot reach each other; host 5 has another kernel, if there is one."""
import random
import sys

count = int(sys.argv[1])
random.seed(count)
SLOW, PAIR, ODD = 2, (1, count - 1), 4


def rate(a, b, noise):
    return (3000 if a == SLOW else 11500) * (1 - noise * random.random())


print("@ begin 1795000000 mpicheck made-up")
for i in range(count):
    print(f"@ host {i} n{i + 1:04}")
    for key, value in (("hostname", f"n{i + 1:04}"), ("mpi", "Tern MPI"), ("kernel", "6.1.0-18" if i == ODD else "6.1.0-28"),
                       ("cpu.nodes", "0:0-7,16-17 1:8-15,18-19"), ("nic.eth0.numa_node", "1"), ("nic.eth0.mtu", "9000"), ("nic.eth0.operstate", "up"), ("addr.eth0", f"10.0.{i // 250}.{i % 250 + 1}/16"),
                       ("now.load", "0.01 0.02 0.00 1/200 77")):
        print(f"@ fact {i} {key} {value}")
    for cpu in range(16):
        print(f"@ core {i} {cpu} {20000 + random.randint(0, 200)} 0.99")
    print(f"@ node {i} {380 + random.random():.2f} 0.3 0")
    print(f"@ clock {i} {random.uniform(-2e-5, 2e-5):.6f} 0.000004")
    print(f"@ socket {i} eth0 10.0.{i // 250}.{i % 250 + 1} 10.0.0.{2 if i == 0 else 1} 100000 0")
print("@ phase facts 1.2 done")
for a in range(count):
    for b in range(count):
        if a == b:
            continue
        if (a, b) == PAIR or (b, a) == PAIR:
            print(f"@ dead {a} {b} first connection timed out")
            continue
        print(f"@ first {a} {b} {random.uniform(0, 3):.1f}")
        print(f"@ bw {a} {b} pairs {rate(a, b, 0.1):.1f} 0.99")
        if a < b:
            least = random.uniform(2.5, 2.8)
            print(f"@ lat {a} {b} pairs {least:.2f} {least + 0.2:.2f} {least + 3:.2f}")
for sample in range(5):
    for a, b in [(SLOW, b) for b in (3, 0)] + [(3, 0), (0, 1)]:
        print(f"@ lat {a} {b} alone 2.6 2.7 4")
        print(f"@ bw {a} {b} alone {rate(a, b, 0.02):.1f} 0.99")
        print(f"@ bw {b} {a} alone {rate(b, a, 0.02):.1f} 0.99")
print("@ phase pairs 40.0 done")
print("@ end done")
