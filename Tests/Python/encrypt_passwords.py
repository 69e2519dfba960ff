"""Encrypts what standard input has: an API password and a password on each line, with a tab between them."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs" / "passwords"))

from encrypt_password import encrypt_password  # noqa: E402

for line in sys.stdin.buffer.read().decode().splitlines():
    api_password, password = line.split("\t")
    print(encrypt_password(password, api_password))
