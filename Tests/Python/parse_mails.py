"""Parses mails by Python's strict policy.

Reads base64 of a mail from each line of standard input. Prints a line of JSON for each: the names of its headers, the sender's
name and address, the addresses that it is to, the subject, the text, the id and the date in seconds.
"""

import base64
import email
import email.policy
import json
import sys

POLICY = email.policy.default.clone(raise_on_defect=True)

for line in sys.stdin:
    data = base64.b64decode(line)
    assert all(part.isascii() and b"\r" not in part and b"\n" not in part for part in data.split(b"\r\n")), "bare line ends"
    assert max(map(len, data.split(b"\r\n"))) <= 998, "long lines"
    mail = email.message_from_bytes(data, policy=POLICY)
    for name, value in mail.items():
        assert not getattr(value, "defects", ()), (name, value.defects)
    assert not mail.defects, mail.defects
    sender = mail["From"].addresses
    assert len(sender) == 1 and not mail.is_multipart()
    print(
        json.dumps(
            {
                "headers": mail.keys(),
                "senderName": sender[0].display_name,
                "sender": sender[0].addr_spec,
                "recipients": [[address.username, address.domain] for address in mail["To"].addresses],
                "subject": mail["Subject"],
                "text": mail.get_content().replace("\r\n", "\n"),
                "id": mail["Message-ID"],
                "seconds": int(mail["Date"].datetime.timestamp()),
            }
        )
    )
