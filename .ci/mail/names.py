"""Answers for the domain that signs, and for one whose records stand in FOLDER/records.json: names.py FOLDER. Prints where it listens, and stays."""

import json
import pathlib
import sys
import threading

from dnslib import MX, QTYPE, RCODE, RR, SOA, TXT, A
from dnslib.server import BaseResolver, DNSServer

import keys

RECORDS = {
    "signed.example.": "v=spf1 -all",
    "_dmarc.signed.example.": "v=DMARC1; p=reject; adkim=s",
    **keys.records(pathlib.Path(sys.argv[1])),
}


class Answers(BaseResolver):
    def resolve(self, request, handler):
        reply = request.reply()
        name = str(request.q.qname).lower()
        known = [(kind, data) for owner, kind, data in records() if owner == name]
        if not known:
            reply.header.rcode = RCODE.NXDOMAIN
        for kind, data in known:
            if QTYPE[request.q.qtype] == kind:
                reply.add_answer(RR(request.q.qname, request.q.qtype, rdata=data, ttl=60))
        return reply


def records():
    yield "mx.example.net.", "A", A("192.0.2.1")
    yield "acme.example.", "SOA", SOA("ns.invalid", "hostmaster.invalid", (1, 3600, 600, 86400, 60))
    for owner, text in RECORDS.items():
        yield owner, "TXT", in_parts(text)
    stated = pathlib.Path(sys.argv[1]) / "records.json"
    for record in json.loads(stated.read_text()) if stated.exists() else []:
        if record["type"] == "TXT":
            yield record["fqdn"] + ".", "TXT", in_parts(record["value"])
        elif record["type"] == "MX":
            yield record["fqdn"] + ".", "MX", MX(record["value"], 10)


def in_parts(text):
    return TXT([text[at : at + 255] for at in range(0, len(text), 255)])


class Silent:
    """dnslib says every question aloud."""

    def __getattr__(self, name):
        return lambda *_: None


server = DNSServer(Answers(), address="127.0.0.1", port=0, logger=Silent())
host, port = server.server.server_address
print(f"{host}:{port}", flush=True)
server.start()
threading.Event().wait()
