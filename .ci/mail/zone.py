"""Publishes what a domain needs, and looks whether its state follows.

zone.py BASE TOKEN FOLDER KNOT
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

base, token, place, knot = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
HEAD = (place / "acme.zone").read_text()
serial = 1


def ask(method, path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(base + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:
        text = answer.read().decode()
    return json.loads(text) if text.startswith("{") else text


def publish(lines):
    """Has the zone say these lines beside its head."""
    global serial
    serial += 1
    (place / "acme.zone").write_text(HEAD.replace(" 1 3600", f" {serial} 3600") + lines)
    subprocess.run(["knotc", "-c", place / "knot.conf", "-b", "zone-reload", "acme.example"], check=True, capture_output=True)


def state(domain, status, **checks):
    assert domain["status"] == status, domain
    wrong = {key: domain["checks"].get(key) for key, seen in checks.items() if domain["checks"].get(key) != seen}
    assert not wrong, wrong


org = ask("POST", "/v1/orgs", {"name": "Acme"})["org"]["orgId"]
domains = f"/v1/orgs/{org}/mail/domains"
mine = f"{domains}/acme.example"


def verify():
    return ask("POST", f"{mine}/verify")["domain"]


def zone():
    return ask("GET", f"{mine}/zone")


for _ in range(100):
    # knot has read its zones once it answers to its control.
    if subprocess.run(["knotc", "-c", place / "knot.conf", "zone-status", "acme.example"], capture_output=True).returncode == 0:
        break
    time.sleep(0.1)

made = ask("POST", domains, {"domain": "acme.example"})["domain"]
state(made, "pending", mx=False, spf=False)
assert made["zone"] == "acme.example", made
lines = zone()
publish("".join(line for line in lines.splitlines(keepends=True) if " MX " in line.replace("\t", " ")))
state(verify(), "verifying", mx=True, spf=False, **{"dkim-1": False})
publish(lines)
domain = verify()
state(domain, "active", **{record["key"]: True for record in domain["records"]})

# The next key is shown, signs once it is seen, and the former one's record stays for a while.
rotated = ask("POST", f"{mine}/dkim/rotate")["domain"]
assert "dkim-1-next" in rotated["checks"], rotated
before = rotated.get("dkimRotatedAt")
publish(zone())
domain = verify()
state(domain, "active", **{"dkim-1": True})
assert domain.get("dkimRotatedAt") != before and "dkim-1-next" not in domain["checks"], domain
assert any(key.startswith("dkim-old-") for key in domain["checks"]), domain
publish(zone())
state(verify(), "active", **{"dkim-1": True})

# A record that is missed once ends nothing, and a server that is away says nothing at all.
publish("")
state(verify(), "active", mx=False)
publish(zone())
state(verify(), "active", mx=True)
os.kill(knot, signal.SIGTERM)
time.sleep(1)
away = verify()
assert away["status"] == "active" and away["checks"]["mx"] and away.get("message"), away
print("a domain's states follow what knot serves of its zone")
