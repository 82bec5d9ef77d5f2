"""Has Python's smtplib and swaks write to a service desk, and looks whether each message is where it belongs.

desk.py BASE TOKEN HOST:PORT FOLDER COUNT
"""

import email
import json
import pathlib
import random
import smtplib
import subprocess
import sys
import time
import urllib.request
from email.message import EmailMessage
from email.policy import SMTP, default
from email.utils import formatdate, make_msgid

base, token, post, place, count = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]), int(sys.argv[5])
host, port = post.rsplit(":", 1)
dice = random.Random(20261127)
people = [f"customer{number}@plain.example" for number in range(10)]


def ask(path, body=None, method=None):
    request = urllib.request.Request(base + path, method=method, headers={"Authorization": f"Bearer {token}"})
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


org = ask("/v1/orgs", {"name": "Desk"})["org"]
address = f"help@{org['slug']}.localhost.localdomain"
issues = f"/v1/orgs/{org['orgId']}/issues"
config = ask(f"{issues}/spaces", {"key": "HELP", "name": "Help", "template": "service"})["space"]["config"]
config["servicedesk"]["email"] = {"address": address, "requestTypeId": "get_help", "from": "anyone"}
ask(f"{issues}/spaces/HELP", {"config": config}, "PATCH")


def bring(sender, subject, text, to=address, **headers):
    """Brings a message by one of the clients; its Message-ID."""
    headers = {"Message-ID": make_msgid(domain="plain.example"), "Date": formatdate(), **headers}
    if dice.random() < 0.5:
        made = EmailMessage(policy=SMTP)
        made["From"], made["To"], made["Subject"] = sender, to, subject
        for name, value in headers.items():
            made[name] = value
        made.set_content(text)
        if dice.random() < 0.5:
            made.add_alternative(f"<p>{text}</p>", subtype="html")
        with smtplib.SMTP(host, int(port), local_hostname="client.example.com", timeout=60) as smtp:
            smtp.sendmail(sender, [to], made.as_bytes())
    else:
        command = ["swaks", "--server", post, "--from", sender, "--to", to, "--silent", "2", "--body", text]
        command += ["--header", f"Subject: {subject}"]
        for name, value in headers.items():
            command += ["--header", f"{name}: {value}"]
        subprocess.run(command, check=True)
    return headers["Message-ID"]


def eventually(what, found):
    for _ in range(600):
        if (it := found()) is not None:
            return it
        time.sleep(0.1)
    raise SystemExit(f"{what} did not happen within a minute")


def receipts():
    """What left about each request, by its subject."""
    found = {}
    for path in sorted((place / "taken").glob("*.eml")):
        message = email.message_from_bytes(path.read_bytes(), policy=default)
        subject = str(message["Subject"])
        if subject.startswith("[HELP-"):
            found.setdefault(subject.split("] ", 1)[1], message)
    return found


begun = {}
for number in range(max(1, count * 3 // 10)):
    sender, subject = dice.choice(people), f"Request {number}"
    begun[subject] = (sender, bring(sender, subject, f"The text of {number}"))
told = eventually("a receipt for each request", lambda: it if begun.keys() <= (it := receipts()).keys() else None)

expected = {}
for number in range(count - len(begun)):
    subject, (sender, own) = dice.choice(list(begun.items()))
    receipt = told[subject]
    key, text = str(receipt["Subject"])[1:].split("]")[0], f"Answer {number}"
    how = dice.randrange(5)
    if how == 0:
        bring(sender, f"Re: {subject}", text, **{"In-Reply-To": receipt["Message-ID"]})
    elif how == 1:
        bring(sender, "Something else", text, References=f"<unknown@plain.example> {own}")
    elif how == 2:
        bring(sender, "Something else", text, to=str(receipt["Reply-To"]).strip("<>"))
    elif how == 3:
        bring(sender, f"AW: [{key}] {subject}", text)
    else:
        bring(sender, "Away", text, **{"In-Reply-To": receipt["Message-ID"], "Auto-Submitted": "auto-replied"})
    expected.setdefault(key, {})[text] = how != 4


def there():
    found = {key: {} for key in expected}
    for key in expected:
        for comment in ask(f"{issues}/{key}/comments")["comments"]:
            found[key][comment["body"]] = comment["public"]
    return found if sum(map(len, found.values())) >= count - len(begun) else None


found = eventually("a comment for each answer", there)
made = ask(f"{issues}?jql=space%20%3D%20HELP&maxResults=1")["total"]
sent = len(list((place / "taken").glob("*.eml")))
if found != expected or made != len(begun):
    raise SystemExit(f"{made} requests of {len(begun)}; {found} is not {expected}")
print(f"{count} messages are {made} requests and {count - made} comments where they belong")
