"""Who asks, and for what: things that are there stand in the paths, and whoever signs out is somebody else."""

import io
import itertools
import json
import os
import urllib.parse
import zipfile
import zlib

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase

BASE = os.environ["BASE"]
with open(os.environ["CAST"]) as file:
    CAST = json.load(file)
TOKENS = CAST["tokens"]
# Whoever asks for these, where it is not the owner. Wrong guesses lock a person out of new sign-ins for a while, so they
# are made by somebody who does nothing else.
CALLERS = {
    "/v1/auth/step-up": "guesser",
    "/v1/me/password": "guesser",
    "/v1/me/otp": "guesser",
    "/v1/me/phone": "guesser",
    "/v1/me/vault": "authenticator",
    "/v1/me/authenticator": "authenticator",
    "/v1/me/notifications/devices": "iphone",
    "/v1/me/notifications/live-activities": "iphone",
    "/git/": "command-line",
}
# One in so many values of a path's parameter stays what it was made up to be.
MADE_UP_IN = 5
counter = itertools.count(1)


@schemathesis.hook
def filter_query(context, query):
    """What a line of HTTP can hold: a query beyond 64 KB is refused before anybody knows whose it is."""
    return len(urllib.parse.urlencode(query, doseq=True)) < 60_000 if query else True


@schemathesis.hook
def before_call(context, case, kwargs):
    method, path = case.operation.method.upper(), case.operation.path
    case.headers.update(address())
    name_real_things(case, method)
    if path.startswith("/console"):
        # A browser says which page it asks for.
        case.headers["Origin"] = BASE
    if case.headers.get("Authorization") == f"Bearer {TOKENS['owner']}":
        if (method, path) == ("POST", "/v1/auth/sign-out"):
            token = token_of(CAST["leaver"])
        else:
            token = next((TOKENS[caller] for start, caller in CALLERS.items() if path.startswith(start)), TOKENS["owner"])
        case.headers["Authorization"] = f"Bearer {token}"
    if (method, path) == ("DELETE", "/console/session") and case.cookies.get("troupe_console") == TOKENS["owner"]:
        case.cookies["troupe_console"] = token_of(CAST["operator"])


def token_of(person):
    body = person | {"app": "account", "platform": "web"}
    answer = requests.post(f"{BASE}/v1/auth/sign-in", json=body, headers=address(), timeout=60)
    answer.raise_for_status()
    return answer.json()["token"]


def address():
    """Each request comes from an address of its own, so that it meets no limit of an address."""
    number = next(counter)
    return {"X-Forwarded-For": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"}


def name_real_things(case, method):
    """Puts ids of things that are there in the place of made-up ones, unless these are what is tested."""
    if case.meta is None or case.meta.is_negative_at(ParameterLocation.PATH):
        return
    # There, ids come out of earlier answers.
    if case.meta.phase.name == TestPhase.STATEFUL:
        return
    # What is deleted is not what everything else is about.
    real = CAST["doomed" if method == "DELETE" else "kept"]
    for name, value in list((case.path_parameters or {}).items()):
        if name in real and zlib.crc32(str(value).encode()) % MADE_UP_IN:
            case.path_parameters[name] = real[name]
    if (method, case.operation.path) == ("DELETE", "/v1/orgs/{orgId}") and case.path_parameters["orgId"] == real["orgId"]:
        # The rest of what is deleted lies in the other.
        case.path_parameters["orgId"] = CAST["short-lived"]


@schemathesis.serializer("application/zip")
def archive(context, value):
    """Text, as a page in an archive; anything else as it is, which is no archive."""
    if not isinstance(value, str):
        return value if isinstance(value, bytes) else json.dumps(value).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("A page.md", value.encode(errors="replace"))
    return packed.getvalue()


@schemathesis.serializer("text/markdown", "text/calendar", "message/rfc822")
def text(context, value):
    """Text; anything else as what is no text."""
    return value.encode(errors="replace") if isinstance(value, str) else b"\xff"


@schemathesis.serializer("application/x-git-upload-pack-request", "application/x-git-receive-pack-request")
def packets(context, value):
    """Lines of text, as git frames them; anything else as it is, which is nothing that git says."""
    if not isinstance(value, str):
        return value if isinstance(value, bytes) else json.dumps(value).encode()
    lines = [line.encode(errors="replace")[:60_000] for line in ["command=ls-refs", *value.splitlines()]]
    return b"".join(f"{len(line) + 4:04x}".encode() + line for line in lines) + b"0000"
