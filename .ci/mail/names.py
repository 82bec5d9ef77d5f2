"""Answers for the domain that signs: names.py FOLDER. Prints where it listens, and stays."""

import pathlib
import sys
import threading

from dnslib import QTYPE, RCODE, RR, TXT
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
        text = RECORDS.get(name)
        if text is None:
            reply.header.rcode = RCODE.NXDOMAIN
        elif QTYPE[request.q.qtype] == "TXT":
            parts = [text[at : at + 255] for at in range(0, len(text), 255)]
            reply.add_answer(RR(request.q.qname, QTYPE.TXT, rdata=TXT(parts), ttl=60))
        return reply


class Silent:
    """dnslib says every question aloud."""

    def __getattr__(self, name):
        return lambda *_: None


server = DNSServer(Answers(), address="127.0.0.1", port=0, logger=Silent())
host, port = server.server.server_address
print(f"{host}:{port}", flush=True)
server.start()
threading.Event().wait()
