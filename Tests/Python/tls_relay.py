"""A relay that speaks TLS to a client of PostgreSQL, and hands over what the server sends in records of chosen sizes.

Usage: tls_relay.py SOCKET CERTIFICATE KEY SIZE... Prints where it listens. What the server sends without a pause goes out
as records of these sizes, all in one piece.
"""

import asyncio
import ssl
import sys

socket_path, certificate, key = sys.argv[1:4]
sizes = [int(word) for word in sys.argv[4:]]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)


async def handshake(reader, writer, incoming, outgoing, tls):
    while True:
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            writer.write(outgoing.read())
            incoming.write(await reader.read(65536))
    writer.write(outgoing.read())


async def to_server(reader, server, incoming, tls):
    while True:
        try:
            data = tls.read(65536)
        except ssl.SSLWantReadError:
            received = await reader.read(65536)
            if not received:
                break
            incoming.write(received)
            continue
        server.write(data)
        await server.drain()
    server.close()


async def to_client(server, writer, outgoing, tls):
    while data := await server.read(65536):
        while True:
            try:
                data += await asyncio.wait_for(server.read(65536), 0.05)
            except asyncio.TimeoutError:
                break
        for size in sizes:
            if data:
                tls.write(data[:size])
                data = data[size:]
        while data:
            tls.write(data[:16384])
            data = data[16384:]
        writer.write(outgoing.read())
        await writer.drain()
    writer.close()


async def serve(reader, writer):
    # An SSLRequest has 8 bytes (PostgreSQL, "Message Formats").
    await reader.readexactly(8)
    writer.write(b"S")
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_side=True)
    await handshake(reader, writer, incoming, outgoing, tls)
    server_reader, server_writer = await asyncio.open_unix_connection(socket_path)
    await asyncio.gather(
        to_server(reader, server_writer, incoming, tls),
        to_client(server_reader, writer, outgoing, tls),
        return_exceptions=True,
    )


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


asyncio.run(main())
