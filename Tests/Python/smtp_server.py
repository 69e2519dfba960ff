"""Serves SMTP on a free port of this machine, and says `listening on PORT` on standard error.

usage: smtp_server.py FOLDER none|starttls|implicit|plain [CERTIFICATE KEY]

`none` and `plain` have no TLS; `plain` does not let anybody sign in. The others let `ada` sign in with `open sesame`, and
take mails from nobody else. FOLDER gets a file for each mail, with its envelope and bytes as JSON. Before each reply to
MAIL, RCPT, DATA, QUIT and AUTH, FOLDER/replies.json is read. It has a reply for each of these, or "silence", or "cut" for
the end of the connection, or "half" for two refusals to half of the recipients. FOLDER/silent is there once it is silent,
and FOLDER/left once a client has left that had said EHLO.
"""

import asyncio
import base64
import collections
import json
import pathlib
import ssl
import sys
import zlib

from aiosmtpd.smtp import SMTP, AuthResult

FOLDER = pathlib.Path(sys.argv[1])
PROTECTION = sys.argv[2]


async def scripted(command, server, address=""):
    """The reply that the test wants; None for the usual one."""
    path = FOLDER / "replies.json"
    reply = json.loads(path.read_text()).get(command) if path.exists() else None
    if reply == "cut":
        server.transport.abort()
    if reply == "silence":
        (FOLDER / "silent").touch()
    if reply in ("silence", "cut"):
        await asyncio.sleep(3_600)
    if reply == "half":
        handler.tries[address] += 1
        isRefused = zlib.crc32(address.encode()) % 2 == 0 and handler.tries[address] <= 2
        return "451 4.7.1 Try again later" if isRefused else None
    return reply


class Handler:
    def __init__(self):
        self.count = 0
        self.tries = collections.Counter()

    async def handle_MAIL(self, server, session, envelope, address, options):
        reply = await scripted("MAIL", server)
        if reply is None:
            envelope.mail_from = address
            envelope.mail_options.extend(options)
        return reply or "250 2.1.0 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        reply = await scripted("RCPT", server, address)
        if reply is None:
            envelope.rcpt_tos.append(address)
        return reply or "250 2.1.5 OK"

    async def handle_DATA(self, server, session, envelope):
        reply = await scripted("DATA", server)
        if reply is None:
            self.count += 1
            mail = {
                "sender": envelope.mail_from,
                "recipients": envelope.rcpt_tos,
                "isEncrypted": session.ssl is not None or PROTECTION == "implicit",
                "user": session.auth_data,
                "bytes": base64.b64encode(envelope.original_content).decode(),
            }
            partial = FOLDER / f"{self.count}.part"
            partial.write_text(json.dumps(mail))
            partial.rename(FOLDER / f"{self.count}.json")
        return reply or "250 2.0.0 Taken"

    async def handle_QUIT(self, server, session, envelope):
        return await scripted("QUIT", server) or "221 2.0.0 Bye"


def authenticator(server, session, envelope, mechanism, data):
    path = FOLDER / "replies.json"
    if path.exists() and json.loads(path.read_text()).get("AUTH"):
        return AuthResult(success=False, handled=False)
    is_right = mechanism in ("LOGIN", "PLAIN") and data.login == b"ada" and data.password == b"open sesame"
    return AuthResult(success=is_right, handled=False, auth_data="ada" if is_right else None)


class Session(SMTP):
    def connection_lost(self, error):
        if self.session and self.session.host_name:
            (FOLDER / "left").touch()
        super().connection_lost(error)


def make():
    signs_in = PROTECTION != "plain"
    return Session(
        handler,
        hostname="mail.example.com",
        tls_context=context if PROTECTION == "starttls" else None,
        require_starttls=PROTECTION == "starttls",
        authenticator=authenticator if signs_in else None,
        auth_required=signs_in,
        auth_require_tls=PROTECTION == "starttls",
        auth_exclude_mechanism=[] if signs_in else ["LOGIN", "PLAIN"],
        enable_SMTPUTF8=False,
    )


async def main():
    server = await asyncio.get_running_loop().create_server(
        make, "127.0.0.1", 0, ssl=context if PROTECTION == "implicit" else None
    )
    print(f"listening on {server.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    await server.serve_forever()


context = None
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
handler = Handler()
asyncio.run(main())
