# SPDX-License-Identifier: BSD-3-Clause
"""Connections that keep a job's own from getting in. Each ends when the file END is there.

visitors.py flood ADDRESS PORT BEGUN END          connects again and again, and says nothing; keeps the latest 600 open
visitors.py fill N ADDRESS PORT BEGUN END         opens N connections that say nothing, and holds them
visitors.py hold N HELLO BEGUN END                says a hello that was recorded (a file) on N connections to where it was said, and
                                                  holds them; waits for the answer of each, or its end; prints how many were answered

The file BEGUN is made when the first 600, or all N, are there.
"""
import os
import resource
import socket
import struct
import sys
import time

# lib/util/net/handshake.h
REACHED = 16 + 96  # where in a hello its address is: family, zero, port, bytes
ANSWER = 4 + 4 + 32 + 32
FLOOD = 600


def touch(name):
    with open(name, "w"):
        pass


def connect(address, port):
    """Begins to; may never end."""
    s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    s.setblocking(False)
    s.connect_ex((address, port))
    return s


def flood(address, port, begun, end):
    held, count = [], 0
    while not os.path.exists(end):
        for _ in range(20):
            held.append(connect(address, port))
            count += 1
            if len(held) > FLOOD:
                held.pop(0).close()
        if FLOOD <= count < FLOOD + 20:
            touch(begun)


def hold(held, begun, end):
    touch(begun)
    while not os.path.exists(end):
        time.sleep(0.02)
    for s in held:
        s.close()


def fill(number, address, port, begun, end):
    hold([connect(address, port) for _ in range(number)], begun, end)


def repeat(number, hello, begun, end):
    with open(hello, "rb") as f:
        said = f.read()
    family, port, text = struct.unpack_from("=BxH16s", said, REACHED)
    address = socket.inet_ntop(socket.AF_INET, text[:4]) if family == 4 else socket.inet_ntop(socket.AF_INET6, text)
    held, answered = [], 0
    for _ in range(number):
        s = socket.create_connection((address, port))
        s.settimeout(20)
        held.append(s)
        try:
            s.sendall(said)
            answered += len(s.recv(ANSWER)) == ANSWER
        except ConnectionError:
            pass
    print(answered)
    hold(held, begun, end)


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 10000), hard))
    what, *words = sys.argv[1:]
    if what == "flood":
        flood(words[0], int(words[1]), *words[2:])
    elif what == "fill":
        fill(int(words[0]), words[1], int(words[2]), *words[3:])
    else:
        repeat(int(words[0]), *words[1:])


main()
