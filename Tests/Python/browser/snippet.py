"""Runs the JavaScript of the page about passwords in a browser.

Reads pairs of an API password and a password from standard input, as JSON. Prints what the code makes of each.
"""

import json
import pathlib
import sys

from chromium import Browser
from pages import served

PAIRS = json.load(sys.stdin)
FOLDER = pathlib.Path(__file__).parents[3] / "docs" / "passwords"

with Browser() as browser, served(FOLDER) as port:
    browser.open(f"http://127.0.0.1:{port}/")
    encrypted = browser.run(
        """
        const { encryptPassword } = await import("/encrypt-password.js");
        return Promise.all(given[0].map(([apiPassword, password]) => encryptPassword(password, apiPassword)));
        """,
        PAIRS,
    )
    assert "value" in encrypted, encrypted
    print(json.dumps(encrypted["value"]))
