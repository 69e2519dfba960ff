"""What schemathesis can't make up, such as passwords that the service can decrypt and photos, and what it must not ask for.

API_AUTH_PASSWORD comes from the environment, or from the file .env in the present folder.
"""

import base64
import hashlib
import os
import pathlib

import schemathesis
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import strategies
from schemathesis.transport.serialization import Binary


def api_password():
    if "API_AUTH_PASSWORD" in os.environ:
        return os.environ["API_AUTH_PASSWORD"]
    path = pathlib.Path(".env")
    for line in path.read_text().splitlines() if path.exists() else []:
        name, _, value = line.removeprefix("export ").partition("=")
        if name.strip() == "API_AUTH_PASSWORD":
            return value.strip().strip("'\"")
    return "unknown"


KEY = hashlib.sha256(api_password().encode()).digest()


def encrypt(password):
    padder = padding.PKCS7(128).padder()
    padded = padder.update(password.encode()) + padder.finalize()
    encryptor = Cipher(algorithms.AES(KEY), modes.CBC(bytes(16))).encryptor()
    return base64.b64encode(encryptor.update(padded) + encryptor.finalize()).decode()


samples = pathlib.Path(__file__).parent.parent / "ImageFilesTests" / "Samples"
photos = [Binary(path.read_bytes()) for path in sorted(samples.iterdir())]
schemathesis.openapi.format("binary", strategies.sampled_from(photos))

letters = strategies.characters(codec="utf-8", exclude_characters="\0")
schemathesis.openapi.format("aescrypt", strategies.text(letters).map(encrypt))
# At most 72 bytes: a character has four at most.
new_passwords = strategies.text(letters, min_size=6, max_size=18)
schemathesis.openapi.format("aescrypt-new", new_passwords.map(encrypt))
schemathesis.openapi.format("password-new", new_passwords)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Asks for pages of changes, at once: streams of events do not end by themselves."""
    if not case.operation.path.endswith("/changes"):
        return
    for name in [name for name in case.headers or {} if name.lower() == "accept"]:
        del case.headers[name]
    wait = str((case.query or {}).get("wait", ""))
    if wait.isdigit() and int(wait) <= 25:
        case.query["wait"] = 0
