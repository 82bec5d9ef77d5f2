#!/usr/bin/env python3
"""Two devices share a passwords vault.

Signs in, makes a vault, puts a password into it, opens the vault on a second device with the passphrase alone, lets both
devices change the same item, and resolves the conflict. Everything that describes a password is encrypted here; the
server sees ciphertext only.

usage: vault_client.py BASE_URL EMAIL PASSWORD [PASSPHRASE]

Needs the package `cryptography`, version 44 or later (for Argon2id). Stops at an account that has a vault already, and
deletes the one that it made.
"""
import base64
import hashlib
import json
import secrets
import sys
import time
import urllib.error
import urllib.request

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

# What a phone can bear: 64 MiB, 3 passes, 4 lanes.
KDF = {"alg": "argon2id", "m": 65_536, "t": 3, "p": 4}


def b64(data):
    return base64.b64encode(data).decode()


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def new_id():
    """An id as devices make them: 16 random bytes, 22 base64url characters."""
    return b64url(secrets.token_bytes(16))


def seal(key, purpose, value):
    """Encrypts any JSON value; `purpose` says what it is and where it belongs, so that nothing can stand in another's place."""
    nonce = secrets.token_bytes(12)
    return b64(nonce + AESGCM(key).encrypt(nonce, json.dumps(value).encode(), purpose.encode()))


def unseal(key, purpose, sealed):
    data = base64.b64decode(sealed)
    return json.loads(AESGCM(key).decrypt(data[:12], data[12:], purpose.encode()))


class ServerError(Exception):
    """An answer that is an error: {"error": sentence, "code": slug}."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('code')}: {body.get('error')}")
        self.status, self.body = status, body


class Server:
    """A sign-in of the authenticator app."""

    def __init__(self, base_url, email, password):
        self.base_url, self.token = base_url.rstrip("/"), None
        signed_in = self.request("POST", "/v1/auth/sign-in", {
            "email": email, "password": password, "app": "authenticator", "platform": "ios",
        })
        self.token = signed_in["token"]

    def request(self, method, path, body=None, sign=None):
        """Sends a request and answers its JSON. `sign(method, path, raw body)` makes X-Vault-Signature."""
        raw = b"" if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if raw else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if sign:
            headers["X-Vault-Signature"] = sign(method, path, raw)
        request = urllib.request.Request(self.base_url + path, raw or None, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise ServerError(error.code, json.load(error)) from None


class Device:
    """A device: the keys of the account and of the vault in memory, and its own copy of the items."""

    def __init__(self, server, name, platform):
        self.server, self.name, self.platform = server, name, platform
        self.device_id = new_id()
        self.revision, self.items = 0, {}
        self.last_signed_at = 0

    # Making and opening

    def make_vault(self, passphrase):
        """Makes the account's keys and a vault, seals them, and sends what is sealed."""
        salt = secrets.token_bytes(16)
        self.signing_key, encryption_key = Ed25519PrivateKey.generate(), X25519PrivateKey.generate()
        self.vault_id, self.vault_key = new_id(), AESGCM.generate_key(256)
        account_key = AESGCM.generate_key(256)
        keyset = {
            "signing": b64(self.signing_key.private_bytes_raw()),
            "encryption": b64(encryption_key.private_bytes_raw()),
            "account": b64(account_key),
        }
        return self.signed("POST", "/v1/me/vault", {
            "accountId": new_id(),
            "kdf": KDF,
            "kdfSalt": b64(salt),
            "keyset": seal(derive(passphrase, salt, KDF), "keyset", keyset),
            "encryptionPublicKey": b64(encryption_key.public_key().public_bytes_raw()),
            "signingPublicKey": b64(self.signing_key.public_key().public_bytes_raw()),
            "vault": {
                "vaultId": self.vault_id,
                "envelope": seal(account_key, f"envelope {self.vault_id}", b64(self.vault_key)),
                "attrs": seal(self.vault_key, f"attrs {self.vault_id}", {"name": "Personal"}),
            },
            "device": {"deviceId": self.device_id, "name": self.name, "platform": self.platform},
        })

    def open_vault(self, passphrase):
        """Opens a vault that another device made, with the passphrase alone, and registers this device."""
        overview = self.server.request("GET", "/v1/me/vault")
        account, vault = overview["account"], overview["vaults"][0]
        key = derive(passphrase, base64.b64decode(account["kdfSalt"]), account["kdf"])
        keyset = unseal(key, "keyset", account["keyset"])
        self.signing_key = Ed25519PrivateKey.from_private_bytes(base64.b64decode(keyset["signing"]))
        self.vault_id = vault["vaultId"]
        account_key = base64.b64decode(keyset["account"])
        self.vault_key = base64.b64decode(unseal(account_key, f"envelope {self.vault_id}", vault["envelope"]))
        return self.signed("PUT", f"/v1/me/vault/devices/{self.device_id}", {
            "name": self.name, "platform": self.platform,
        })

    # Signing

    def signed(self, method, path, body=None):
        return self.server.request(method, path, body, self.sign)

    def sign(self, method, path, raw):
        # A signature counts once, so no two may be the same: the time moves on with each.
        self.last_signed_at = max(int(time.time() * 1000), self.last_signed_at + 1)
        digest = hashlib.sha256(raw).hexdigest()
        text = "\n".join(["troupe-vault/v1", method, path, self.device_id, str(self.last_signed_at), digest])
        signature = b64url(self.signing_key.sign(text.encode()))
        return f"v1;d={self.device_id};t={self.last_signed_at};s={signature}"

    # Items

    @property
    def path(self):
        return f"/v1/me/vault/vaults/{self.vault_id}"

    def sync(self):
        """Fetches what changed: compares the index with the own copy, then reads 100 items at a time."""
        index = self.server.request("GET", f"{self.path}/index")
        known = {item_id: item["revision"] for item_id, item in self.items.items()}
        changed = [entry["itemId"] for entry in index["items"] if known.get(entry["itemId"]) != entry["revision"]]
        for start in range(0, len(changed), 100):
            ids = ",".join(changed[start:start + 100])
            for item in self.server.request("GET", f"{self.path}/items?ids={ids}")["items"]:
                self.items[item["itemId"]] = self.opened(item)
        self.revision = index["revision"]
        return changed

    def save(self, item_id, login):
        """Sends an item over the revision that this device knows; answers the result of the change."""
        base_revision = self.items.get(item_id, {"revision": 0})["revision"]
        item_key = AESGCM.generate_key(256)
        return self.change(login, {
            "itemId": item_id,
            "baseRevision": base_revision,
            "key": seal(self.vault_key, f"key {item_id}", b64(item_key)),
            "overview": seal(item_key, f"overview {item_id}", {"title": login["title"], "user": login["user"]}),
            "details": seal(item_key, f"details {item_id}", login),
        })

    def delete(self, item_id):
        return self.change(None, {
            "itemId": item_id, "baseRevision": self.items[item_id]["revision"], "deleted": True,
        })

    def change(self, login, change):
        answer = self.signed("POST", f"{self.path}/items", {"changes": [change]})
        result = answer["results"][0]
        if result["status"] == "ok":
            self.items[change["itemId"]] = {"revision": result["revision"], "login": login}
            self.revision = answer["vault"]["revision"]
        return result

    def opened(self, item):
        """An item as it is kept on the device; a deleted one has no login."""
        if item["deleted"]:
            return {"revision": item["revision"], "login": None}
        item_id = item["itemId"]
        item_key = base64.b64decode(unseal(self.vault_key, f"key {item_id}", item["key"]))
        return {"revision": item["revision"], "login": unseal(item_key, f"details {item_id}", item["details"])}


def derive(passphrase, salt, kdf):
    """The key that opens the key set. The server never sees it, nor the passphrase."""
    assert kdf["alg"] == "argon2id", kdf
    return Argon2id(
        salt=salt, length=32, iterations=kdf["t"], lanes=kdf["p"], memory_cost=kdf["m"],
    ).derive(passphrase.encode())


def merge(mine, theirs):
    """Resolves a conflict: their password is newer, and nobody's notes are lost."""
    notes = "\n".join(note for note in (theirs.get("notes"), mine.get("notes")) if note)
    return {**mine, **theirs, "notes": notes}


def step(text):
    print(f"== {text}")


def main():
    if not 4 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    base_url, email, password = sys.argv[1:4]
    passphrase = sys.argv[4] if len(sys.argv) == 5 else "correct horse battery staple"

    step("the phone signs in and makes a vault")
    phone = Device(Server(base_url, email, password), "Phone", "ios")
    if phone.server.request("GET", "/v1/me/vault")["account"]:
        sys.exit("This account has a vault already; use another account.")
    made = phone.make_vault(passphrase)
    print(f"   vault {phone.vault_id}, up to {made['limits']['maxItems']} items on {made['limits']['maxDevices']} devices")

    step("the phone saves a login")
    login = {"title": "Mail", "user": "ada", "password": secrets.token_urlsafe(12)}
    item_id = new_id()
    print("  ", phone.save(item_id, login))

    step("a tablet opens the vault with the passphrase, and syncs")
    tablet = Device(Server(base_url, email, password), "Tablet", "android")
    try:
        tablet.open_vault("not " + passphrase)
        sys.exit("a wrong passphrase opened the vault")
    except InvalidTag:
        print("   a wrong passphrase opens nothing")
    tablet.open_vault(passphrase)
    tablet.sync()
    assert tablet.items[item_id]["login"] == login
    print(f"   it reads {tablet.items[item_id]['login']['title']!r} at revision {tablet.revision}")

    step("the tablet changes the password while the phone adds a note")
    tablet.save(item_id, {**login, "password": "changed on the tablet"})
    mine = {**login, "notes": "written on the phone"}
    result = phone.save(item_id, mine)
    assert result["status"] == "conflict", result
    print(f"   the phone is told: {result['status']}, the item is at revision {result['current']['revision']}")

    step("the phone merges the two and saves over the current revision")
    phone.items[item_id] = phone.opened(result["current"])
    result = phone.save(item_id, merge(mine, phone.items[item_id]["login"]))
    assert result["status"] == "ok", result
    print("  ", result)

    step("the tablet syncs")
    assert tablet.sync() == [item_id]
    merged = tablet.items[item_id]["login"]
    assert (merged["password"], merged["notes"]) == ("changed on the tablet", "written on the phone")
    print("  ", merged)

    step("the tablet deletes it, the phone brings it back")
    tablet.delete(item_id)
    phone.sync()
    assert phone.items[item_id]["login"] is None
    assert phone.save(item_id, login)["status"] == "ok"
    tablet.sync()
    assert tablet.items[item_id]["login"] == login
    print(f"   revision {tablet.revision}")

    step("a signature counts once")
    body = {"name": "Renamed", "platform": "ios"}
    path = f"/v1/me/vault/devices/{phone.device_id}"
    header = phone.sign("PUT", path, json.dumps(body).encode())
    phone.server.request("PUT", path, body, lambda *_: header)
    try:
        phone.server.request("PUT", path, body, lambda *_: header)
        sys.exit("a signature counted twice")
    except ServerError as error:
        print("  ", error)

    step("the phone removes the tablet")
    phone.signed("DELETE", f"/v1/me/vault/devices/{tablet.device_id}")
    try:
        tablet.save(item_id, login)
        sys.exit("a removed device changed the vault")
    except ServerError as error:
        print("  ", error)

    step("what the log tells")
    for entry in phone.server.request("GET", "/v1/me/vault/log")["entries"]:
        print(f"   {entry['event']:24} {entry['deviceName'] or ''}")

    step("the phone deletes the vault")
    print("  ", phone.signed("DELETE", "/v1/me/vault"))


if __name__ == "__main__":
    main()
