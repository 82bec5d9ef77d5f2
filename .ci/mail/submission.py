"""Sends with clients of the field, and looks at what aiosmtpd got of it: whole, once, and signed as dkimpy reads it."""

import email
import json
import smtplib
import ssl
import subprocess
import time
from email.policy import SMTP

import dkim

DOMAIN = "acme.example"
ADDRESS = f"ada@{DOMAIN}"


class Desk:
    """A mailbox of a domain with records, and an app password for it."""

    def __init__(self, ask, check, place, submissions, submission, me, org):
        self.check, self.place = check, place
        self.tls, self.starttls = (int(listener.rsplit(":", 1)[1]) for listener in (submissions, submission))
        mail = f"/v1/orgs/{org}/mail"
        made = ask(f"{mail}/domains", {"domain": DOMAIN})["domain"]
        self.records = {it["key"]: it for it in made["records"]}
        (place / "records.json").write_text(json.dumps(list(self.records.values())))
        verified = ask(f"{mail}/domains/{DOMAIN}/verify", {})["domain"]
        check(f"the domain is {verified['status']}: {verified['checks']}", verified["status"] == "active")
        ask(f"{mail}/admin/mailboxes", {"localPart": "ada", "domain": DOMAIN, "members": [me]})
        body = {"name": "Clients", "orgId": org, "uses": ["smtp"]}
        self.secret = ask("/v1/me/app-passwords", body)["secret"]

    def run(self, message):
        self.smtplib_sends(message)
        self.programs_send(message)
        self.all_arrived_signed()

    def smtplib_sends(self, message):
        context = ssl.create_default_context(cafile=self.place / "cert.pem")
        with smtplib.SMTP("localhost", self.starttls, timeout=60) as smtp:
            smtp.ehlo()
            self.check("no passwords in the clear", "auth" not in smtp.esmtp_features)
            smtp.starttls(context=context)
            self.sends(smtp, message, "smtplib starttls")
        with smtplib.SMTP_SSL("localhost", self.tls, context=context, timeout=60) as smtp:
            self.sends(smtp, message, "smtplib tls")
        with smtplib.SMTP_SSL("localhost", self.tls, context=context, timeout=60) as smtp:
            try:
                smtp.login(ADDRESS, "wrong")
                self.check("a wrong password opens the mailbox", False)
            except smtplib.SMTPAuthenticationError as refused:
                self.check("wrong password", refused.smtp_code == 535)

    def sends(self, smtp, message, subject):
        smtp.login(ADDRESS, self.secret)
        sent = message(subject, "line of text é\n.dot\n" * 50)
        del sent["From"], sent["Message-ID"]
        sent["From"], sent["Bcc"] = f"Ada <{ADDRESS}>", "unseen@example.com"
        refused = smtp.sendmail(ADDRESS, ["bob@example.com", "unseen@example.com"], sent.as_bytes())
        self.check(subject, refused == {})
        try:
            smtp.sendmail("eve@example.com", ["bob@example.com"], sent.as_bytes())
            self.check(f"{subject}: in the name of somebody else", False)
        except smtplib.SMTPSenderRefused as error:
            self.check(f"{subject}: sender", error.smtp_code == 553)

    def programs_send(self, message):
        trust = str(self.place / "cert.pem")
        for name, how in (
            ("tls", ["--server", f"localhost:{self.tls}", "--tls-on-connect", "--auth", "PLAIN"]),
            ("starttls", ["--server", f"localhost:{self.starttls}", "--tls", "--auth", "LOGIN"]),
        ):
            command = ["swaks", *how, "--tls-ca-path", trust, "--auth-user", ADDRESS, "--auth-password", self.secret]
            command += ["--from", ADDRESS, "--to", "bob@example.com", "--header", f"Subject: swaks {name}", "--silent", "2"]
            done = subprocess.run(command, capture_output=True, text=True)
            self.check(f"swaks {name}: {done.stdout}{done.stderr}", done.returncode == 0)
        password = self.place / "password"
        password.write_text(self.secret)
        for name, port, starttls in (("tls", self.tls, "off"), ("starttls", self.starttls, "on")):
            command = ["msmtp", "--host=localhost", f"--port={port}", f"--from={ADDRESS}", "--auth=on", f"--user={ADDRESS}"]
            command += [f"--passwordeval=cat {password}", "--tls=on", f"--tls-starttls={starttls}"]
            command += [f"--tls-trust-file={trust}", "bob@example.com"]
            sent = message(f"msmtp {name}", "hello\n")
            sent.replace_header("From", ADDRESS)
            done = subprocess.run(command, input=sent.as_bytes(), capture_output=True)
            self.check(f"msmtp {name}: {done.stderr}", done.returncode == 0)

    def all_arrived_signed(self):
        wanted = {f"{client} {how}" for client in ("smtplib", "swaks", "msmtp") for how in ("starttls", "tls")}
        until = time.monotonic() + 60
        while len(list((self.place / "taken").glob("*.json"))) < len(wanted) and time.monotonic() < until:
            time.sleep(0.1)
        arrived = []
        for path in (self.place / "taken").glob("*.json"):
            envelope, raw = json.loads(path.read_text()), path.with_suffix(".eml").read_bytes()
            subject = email.message_from_bytes(raw, policy=SMTP)["Subject"]
            arrived.append(subject)
            own = envelope["from"].startswith("b-msg_") and envelope["from"].endswith(f"@bounces.{DOMAIN}")
            self.check(f"{subject}: the envelope is from {envelope['from']}", own)
            head = raw.split(b"\r\n\r\n")[0].lower()
            self.check(f"{subject}: head", b"\r\nbcc:" not in head and b"\r\nmessage-id:" in head and b"\r\ndate:" in head)
            both = dkim.DKIM(raw)
            for place in range(2):
                self.check(f"{subject}: signature {place}", both.verify(idx=place, dnsfunc=self.key))
        self.check(f"arrived: {sorted(arrived)}", sorted(arrived) == sorted(wanted))

    def key(self, name, timeout=5):
        asked = name.decode().rstrip(".") if isinstance(name, bytes) else name.rstrip(".")
        return next((it["value"].encode() for it in self.records.values() if it["fqdn"] == asked), None)
