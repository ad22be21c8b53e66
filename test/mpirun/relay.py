# SPDX-License-Identifier: BSD-3-Clause
"""Somebody between two ranks, who accepts the one's connection and makes one to the other.

relay.py PORT-FILE LOG WHAT [DIRECTION AT]

The caller first says the port that it wants, two bytes. All bytes that pass are appended to LOG. WHAT is one of
  pass       nothing else
and of these, once, at byte AT (after the handshake) of what goes in DIRECTION (there: from the caller, back: to it)
  flip       one bit is another
  repeat     the last 200 bytes come twice
  leave_out  200 bytes do not come
  swap       100 bytes come after the next 100
  cut        both connections end in order
"""
import os
import socket
import struct
import sys
import threading

HANDSHAKE = {"there": 8 + 2 + 2 + 4 + 96 + 20 + 32 + 32 + 32, "back": 4 + 4 + 32 + 32}  # lib/util/net/handshake.h
log = open(sys.argv[2], "ab", buffering=0)
what = sys.argv[3]
direction, at = (sys.argv[4], int(sys.argv[5])) if len(sys.argv) > 5 else ("", 0)
done = False


def change(held, passed):
    """What is to be sent, and what is still to be held back, of bytes that begin after the first `passed`; None: the end."""
    global done
    begin = at - passed
    window = {"flip": 1, "cut": 0}.get(what, 200)
    if done or begin < 0 or len(held) < begin + window:
        keep = 0 if done or begin < 0 else max(0, len(held) - begin)
        return held[:len(held) - keep], held[len(held) - keep:]
    done = True
    if what == "flip":
        return held[:begin] + bytes([held[begin] ^ 4]) + held[begin + 1:], b""
    if what == "repeat":
        return held[:begin + 200] + held[begin:], b""
    if what == "leave_out":
        return held[:begin] + held[begin + 200:], b""
    if what == "swap":
        return held[:begin] + held[begin + 100:begin + 200] + held[begin:begin + 100] + held[begin + 200:], b""
    return None, b""


def forward(here, there, way):
    passed, held = -HANDSHAKE[way], b""
    try:
        while got := here.recv(65536):
            log.write(got)
            if way == direction:
                send, held = change(held + got, passed)
                if send is None:
                    break
            else:
                send = got
            there.sendall(send)
            passed += len(send)
    except OSError:
        pass
    for one in (here, there):
        try:
            one.shutdown(socket.SHUT_RDWR if what == "cut" else socket.SHUT_WR if one is there else socket.SHUT_RD)
        except OSError:
            pass


def serve(caller):
    port, = struct.unpack("=H", caller.recv(2, socket.MSG_WAITALL))
    called = socket.create_connection(("127.0.0.1", port))
    for one in (caller, called):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=forward, args=(called, caller, "back"), daemon=True).start()
    forward(caller, called, "there")


door = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as f:
    f.write(str(door.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
