"""Makes an organization with access keys, and prints what the clients read them from, for a shell.

Usage: cast.py BASE EMAIL PASSWORD, those of the owner of the platform's organization.
"""

import shlex
import sys

import requests

base, email, password = sys.argv[1:]


def call(method, path, body=None, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = requests.request(method, f"{base}/v1{path}", json=body, headers=headers, timeout=60)
    if not answer.ok:
        sys.exit(f"{method} {path}: {answer.status_code} {answer.text}")
    return answer.json()


body = {"email": email, "password": password, "app": "account", "platform": "web"}
token = call("POST", "/auth/sign-in", body)["token"]


def organization(name):
    return call("POST", "/orgs", {"name": name}, token)["org"]["orgId"]


def access_key(org, access, **more):
    made = call("POST", f"/orgs/{org}/access-keys", {"name": access, "access": access, **more}, token)
    return made["accessKey"]["accessKeyId"], made["secretAccessKey"]


org, other = organization("S3 clients"), organization("Strangers")
only = call("POST", f"/orgs/{org}/storage", {"name": "only-this"}, token)["bucket"]["resourceId"]
values = {"TROUPE_TOKEN": token, "TROUPE_ORG": org}
for name, key in {
    "AWS": access_key(org, "write"),
    "READER": access_key(org, "read"),
    "LIMITED": access_key(org, "write", resources=[only], prefix="mine/"),
    "STRANGER": access_key(other, "write"),
}.items():
    values[f"{name}_ACCESS_KEY_ID"], values[f"{name}_SECRET_ACCESS_KEY"] = key
for name, value in values.items():
    print(f"export {name}={shlex.quote(value)}")
