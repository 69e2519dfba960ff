"""A proxy for CONNECT: leads each tunnel to one port of this machine, whatever host it is for.

Usage: connect_proxy.py PORT. Prints where it listens, and then a line for each request.
"""

import asyncio
import sys

target = int(sys.argv[1])


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


async def serve(reader, writer):
    head = await reader.readuntil(b"\r\n\r\n")
    print(head.split(b"\r\n")[0].decode(), flush=True)
    there_reader, there_writer = await asyncio.open_connection("127.0.0.1", target)
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer), return_exceptions=True)


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


asyncio.run(main())
