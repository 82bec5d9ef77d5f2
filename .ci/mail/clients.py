"""Brings mail with clients of the field, and looks whether it is there as it was sent.

clients.py BASE TOKEN HOST:PORT FOLDER SIGNED SUBMISSIONS SUBMISSION
"""

import hashlib
import json
import pathlib
import random
import smtplib
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.request
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

import dkim

import keys
import submission

base, token, post, place, signed = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]), int(sys.argv[5])
host, port = post.rsplit(":", 1)
port = int(port)
broken = []


def ask(path, body=None):
    request = urllib.request.Request(base + path, headers={"Authorization": f"Bearer {token}"})
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def check(what, holds):
    if not holds:
        broken.append(what)
        print(f"broken: {what}")


def names(body):
    """What the database calls the bytes."""
    return hashlib.sha256(body).hexdigest()


def kept():
    with sqlite3.connect(f"file:{place}/data/troupe.sqlite?mode=ro", uri=True) as database:
        return {row[0] for row in database.execute("SELECT raw_id FROM mail_raw")}


def client(secure=False):
    smtp = smtplib.SMTP(host, port, local_hostname="client.example.com", timeout=60)
    if secure:
        context = ssl.create_default_context(cafile=place / "cert.pem")
        smtp._host = "localhost"  # whose name the certificate has
        smtp.starttls(context=context)
    smtp.ehlo()
    return smtp


def message(subject, text):
    made = EmailMessage(policy=SMTP)
    made["From"], made["To"], made["Subject"] = "Ada <ada@plain.example>", address, subject
    made["Date"], made["Message-ID"] = formatdate(), make_msgid(domain="plain.example")
    made.set_content(text)
    return made


me = ask("/v1/me")["user"]["userId"]
org = ask("/v1/orgs", {"name": "Post"})["org"]
domain = f"{org['slug']}.localhost.localdomain"
path = f"/v1/orgs/{org['orgId']}/mail/admin/mailboxes"
ask(path, {"localPart": "ada", "domain": domain, "members": [me]})
address = f"ada@{domain}"


def smtplib_brings():
    for secure in (False, True):
        with client(secure) as smtp:
            for size in (10, 100_000, 1_000_000):
                sent = message(f"{secure} {size}", "line of text é\n.dot\n" * (size // 20 + 1)).as_bytes()
                check(f"smtplib {secure} {size}", smtp.sendmail("ada@plain.example", [address], sent) == {})
                check(f"bytes of smtplib {secure} {size}", names(sent) in kept())
            check("SIZE", smtp.esmtp_features["size"] == "36700160")
    with client() as smtp:
        try:
            smtp.sendmail("ada@plain.example", [f"nobody@{domain}"], b"Subject: a\r\n\r\n")
            check("somebody has every address", False)
        except smtplib.SMTPRecipientsRefused as refused:
            check("unknown recipient", refused.recipients[f"nobody@{domain}"][0] == 550)
        big = b"x" * 98 + b"\r\n"
        code, _ = smtp.docmd("MAIL", f"FROM:<ada@plain.example> SIZE={len(big) * 400_000}")
        check("too large", code == 552)


def programs_bring():
    tls = ["--tls", "--tls-ca-path", str(place / "cert.pem")]
    for name, more in (("plain", []), ("tls", tls)):
        command = ["swaks", "--server", f"{host}:{port}", "--from", "ada@plain.example", "--to", address, "--silent", "2"]
        done = subprocess.run([*command, "--header", f"Subject: swaks {name}", *more], capture_output=True, text=True)
        check(f"swaks {name}: {done.stdout}{done.stderr}", done.returncode == 0)
    refused = subprocess.run(
        ["swaks", "--server", f"{host}:{port}", "--from", "ada@plain.example", "--to", "ada@example.com", "--silent", "2"],
        capture_output=True,
    )
    check("swaks is no relay's client", refused.returncode == 24)
    for name, more in (("plain", ["--tls=off"]), ("tls", ["--tls=on", f"--tls-trust-file={place}/cert.pem"])):
        command = ["msmtp", "--host=localhost", f"--port={port}", "--from=ada@plain.example", "--auth=off", *more, address]
        sent = message(f"msmtp {name}", "hello\n").as_bytes()
        done = subprocess.run(command, input=sent, capture_output=True)
        check(f"msmtp {name}: {done.stderr}", done.returncode == 0)


def signatures_hold():
    dice = random.Random(20261124)
    canonical = [b"simple", b"relaxed"]
    with client() as smtp:
        for number in range(signed):
            words = [dice.choice(["a", "  b", "\tc ", "é", ".", "", "From here", "x" * 70]) for _ in range(dice.randrange(1, 60))]
            body = "\r\n".join(words).encode() + b"\r\n" * dice.randrange(1, 4)
            fields = f"From:  Ada   <ada@signed.example>\r\nSubject: {number}\r\n\t folded   {dice.random()}\r\n"
            made = f"{fields}Date: {formatdate()}\r\nMessage-ID: {make_msgid()}\r\n\r\n".encode() + body
            how = dice.choice(canonical), dice.choice(canonical)
            if dice.random() < 0.5:
                sign = dict(selector=b"rsa", privkey=keys.rsa_private(place))
            else:
                sign = dict(selector=b"ed", privkey=keys.ed25519_private(), signature_algorithm=b"ed25519-sha256")
            signature = dkim.sign(made, domain=b"signed.example", canonicalize=how, **sign)
            code, said = sent(smtp, signature + made)
            check(f"signed {number} {how} {sign['selector']}: {code} {said}", code == 250)
            changed = signature + made.replace(b"Subject: ", b"Subject: not ", 1)
            # Ten refusals end a connection.
            with client() as another:
                code, said = sent(another, changed)
            check(f"changed {number}: {code} {said}", code == 550 and b"DMARC" in said)


def sent(smtp, body):
    smtp.mail("ada@signed.example")
    smtp.rcpt(address)
    return smtp.data(body)


began = time.monotonic()
socket.setdefaulttimeout(60)
desk = submission.Desk(ask, check, place, sys.argv[6], sys.argv[7], me, org["orgId"])


def clients_send():
    desk.run(message)


for bring in (smtplib_brings, programs_bring, signatures_hold, clients_send):
    bring()
    print(f"{bring.__name__:20} {time.monotonic() - began:5.1f} s")
if broken:
    sys.exit(f"{len(broken)} broken")
print(f"{len(kept())} messages were kept as they were sent")
