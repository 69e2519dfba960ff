"""A name server that changes its answers: a public address and an inside one, in turn. It says `listening` on standard error.

usage: rebinding_dns.py ADDRESS FILE

It answers on port 53 of ADDRESS, for any name. FILE gets a line with each answer.
"""

import socket
import struct
import sys

PUBLIC, INSIDE = "93.184.215.14", "127.0.0.1"

log = open(sys.argv[2], "a", buffering=1)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
print("listening", file=sys.stderr, flush=True)
count = 0
while True:
    query, client = server.recvfrom(512)
    end = 12
    while query[end]:
        end += query[end] + 1
    question = query[12 : end + 5]
    kind = struct.unpack("!H", query[end + 1 : end + 3])[0]
    if kind == 1:
        count += 1
        address = [PUBLIC, INSIDE][count % 2]
        log.write(address + "\n")
        answer = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 0, 4) + socket.inet_aton(address)
    else:
        answer = b""
    head = query[:2] + b"\x84\x00" + struct.pack("!HHHH", 1, 1 if answer else 0, 0, 0)
    server.sendto(head + question + answer, client)
