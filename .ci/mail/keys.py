"""The keys that sign, and their records."""

import base64
import subprocess

from nacl.signing import SigningKey

ED25519 = SigningKey(bytes(range(32)))


def rsa_private(place):
    return (place / "rsa.pem").read_bytes()


def ed25519_private():
    return base64.b64encode(bytes(ED25519))


def records(place):
    der = subprocess.run(
        ["openssl", "rsa", "-in", place / "rsa.pem", "-pubout", "-outform", "DER"], capture_output=True, check=True
    ).stdout
    rsa, ed25519 = base64.b64encode(der).decode(), base64.b64encode(bytes(ED25519.verify_key)).decode()
    return {
        "rsa._domainkey.signed.example.": f"v=DKIM1; k=rsa; p={rsa}",
        "ed._domainkey.signed.example.": f"v=DKIM1; k=ed25519; p={ed25519}",
    }
