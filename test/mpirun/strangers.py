# SPDX-License-Identifier: BSD-3-Clause
"""What comes to a job's ports from outside.

strangers.py --list PID...         the TCP ports at which these processes listen
strangers.py --scan ADDRESS        connects to all ports from 1024 on, one after the other; prints those that are open
strangers.py ADDRESS PORT...       at each port: silence, garbage, half a hello, and the hello of a rank of another job, whole and
                                   well made but by another secret. Each must be closed without an answer.
"""
import glob
import hashlib
import hmac
import os
import socket
import struct
import sys

IN_A_ROW = 200  # connections at a port that say nothing at all


def list_ports(pids):
    inodes = set()
    for pid in pids:
        for name in glob.glob(f"/proc/{pid}/fd/*"):
            target = os.readlink(name)
            if target.startswith("socket:"):
                inodes.add(target[8:-1])
    ports = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pids[0]}/net/{table}") as f:
            for line in f.read().splitlines()[1:]:
                words = line.split()
                if words[3] == "0A" and words[9] in inodes:
                    ports.add(int(words[1].split(":")[1], 16))
    return ports


def scan(address):
    for port in range(1024, 65536):
        with socket.socket() as s:
            s.settimeout(2)
            if s.connect_ex((address, port)) == 0:
                yield port


def hello_of_another_job():
    """lib/util/net/handshake.h: service, version, order, zero, greeting, address, nonce, proof."""
    greeting = struct.pack("=BBHIII64s", 0, 0, 0, 1, 0, 1, b"prterun-other-1").ljust(96, b"\0")
    said = struct.pack("=8sHHI", b"TERNtcp\n", 3, 0x0102, 0) + greeting + bytes(20) + os.urandom(32)
    return said + hmac.new(os.urandom(32), b"hello" + said, hashlib.sha256).digest()


def annoy(address, port):
    for _ in range(IN_A_ROW):
        socket.create_connection((address, port)).close()
    hello = hello_of_another_job()
    for word in (b"GET / HTTP/1.0\r\n\r\n", b"\0" * 100000, os.urandom(5000), b"TERNtcp\n" + bytes(200), hello,
                 hello + os.urandom(1000)):
        with socket.create_connection((address, port)) as s:
            s.settimeout(20)
            try:
                s.sendall(word)
                got = s.recv(100)
            except ConnectionError:
                got = b""
            assert got == b"", f"port {port} answered {got!r}"
    with socket.create_connection((address, port)) as s:
        s.sendall(hello[:100])


def main():
    if sys.argv[1] == "--list":
        print(*list_ports(sys.argv[2:]))
    elif sys.argv[1] == "--scan":
        print(*scan(sys.argv[2]))
    else:
        assert len(sys.argv) > 2, "no port to go to"
        for port in sys.argv[2:]:
            annoy(sys.argv[1], int(port))


main()
