"""Makes the people and things whose ids stand in the paths, so that requests get past 404.

Usage: cast.py BASE EMAIL PASSWORD, those of the owner of the platform's organization; prints JSON on standard output.
"""

import json
import sys
import time

import requests

PASSWORD = "correct horse battery staple"


class Client:
    def __init__(self, base, token=None):
        self.base, self.token = base, token

    def call(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        answer = requests.request(method, self.base + path, json=body, headers=headers, timeout=60)
        if not answer.ok:
            sys.exit(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def get(self, path):
        return self.call("GET", path)

    def send(self, method, path, content_type, body):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        answer = requests.request(method, self.base + path, data=body, headers=headers, timeout=60)
        if not answer.ok:
            sys.exit(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def upload(self, path, content_type, body):
        return self.send("POST", path, content_type, body)

    def put(self, path, content_type, body):
        return self.send("PUT", path, content_type, body)

    def post(self, path, body):
        return self.call("POST", path, body)


def sign_in(base, email, password, app="account", platform="web"):
    """A client that is signed in."""
    body = {"email": email, "password": password, "app": app, "platform": platform}
    answer = Client(base).post("/v1/auth/sign-in", body)
    return Client(base, answer["token"])


def register(base, name):
    email = f"{name}@example.org"
    answer = Client(base).post("/v1/auth/register", {"email": email, "password": PASSWORD, "name": name})
    return email, answer["user"]["userId"]


def organization(owner, name, member):
    """An organization with one of everything; the ids by the names of the parameters."""
    org_id = owner.post("/v1/orgs", {"name": name})["org"]["orgId"]
    org = f"/v1/orgs/{org_id}"
    me = owner.get("/v1/me")["user"]["userId"]
    owner.post(f"{org}/members", {"userId": member, "role": "viewer"})
    team = owner.post(f"{org}/teams", {"name": "A team"})["team"]["teamId"]
    invite = owner.post(f"{org}/invites", {"email": f"guest-of-{name.lower()}@example.org", "role": "viewer"})
    key = owner.post(f"{org}/keys", {"name": "A program", "kind": "api", "scopes": ["weather:write"]})
    access_key = owner.post(f"{org}/access-keys", {"name": "A program", "access": "read"})["accessKey"]["accessKeyId"]
    protocol = owner.post(f"{org}/notify/protocols", {"template": "vip-mail"})
    protocol_id = protocol["protocol"]["protocolId"]
    escalation = owner.post(f"{org}/notify/protocols/{protocol_id}/test", None)["escalation"]["escalationId"]
    rota = {"name": "Ops", "people": [me], "handover": {"every": "day", "at": "09:00"}}
    rota_id = owner.post(f"{org}/notify/rotas", rota)["rota"]["rotaId"]
    now = int(time.time() * 1000)
    override = owner.post(
        f"{org}/notify/rotas/{rota_id}/overrides", {"userId": me, "from": now, "until": now + 86_400_000}
    )
    hook = owner.post(f"{org}/notify/hooks", {"name": "A hook"})
    page = owner.post(f"{org}/pages", {"title": "A page", "content": "# Hello\n\nworld"})["page"]["pageId"]
    comment = owner.post(f"{org}/pages/{page}/comments", {"body": "A comment"})["comment"]["commentId"]
    table = owner.post(f"{org}/databases", {"name": "A-table", "partitionKey": {"name": "id", "type": "S"}})
    imported = owner.upload(f"{org}/pages/import?title=Imported", "text/markdown", b"# Hello\n")["importId"]
    bucket = owner.post(f"{org}/storage", {"name": "a-bucket", "versioning": "Enabled"})["bucket"]["resourceId"]
    owner.put(f"{org}/storage/{bucket}/object?key=a-file", "text/plain", b"Hello")
    owner.post(f"{org}/repos", {"name": "a-repository"})
    slug = owner.get(org)["org"]["slug"]
    mailbox = {"localPart": "owner", "domain": f"{slug}.localhost.localdomain", "members": [me]}
    mailbox_id = owner.post(f"{org}/mail/admin/mailboxes", mailbox)["mailbox"]["mailboxId"]
    mail = f"{org}/mail/mailboxes/{mailbox_id}"
    mail_import = owner.post(f"{mail}/imports", {"kind": "mbox", "size": 3})["import"]["importId"]
    calendar = owner.get(f"{mail}/calendars")["calendars"][0]["calendarId"]
    event = {"summary": "A meeting", "start": "2026-11-23T09:00", "end": "2026-11-23T10:00", "timeZone": "Europe/Vienna"}
    event_id = owner.post(f"{mail}/calendars/{calendar}/events", event)["event"]["eventId"]
    rule = owner.post(f"{org}/repos/a-repository/rules", {"name": "A rule", "patterns": ["main"]})["rule"]["ruleId"]
    desk = {"key": "WEB", "name": "A space", "template": "service"}
    config = owner.post(f"{org}/issues/spaces", desk)["space"]["config"]
    config["servicedesk"]["portal"]["enabled"] = True
    config["servicedesk"]["email"] = {"requestTypeId": "get_help", "from": "anyone"}
    owner.call("PATCH", f"{org}/issues/spaces/WEB", {"config": config})
    mail_hook = owner.post(f"{org}/issues/spaces/WEB/mail-hooks", {"name": "A hook"})
    portal = f"/v1/portal/issues/{slug}/WEB"
    issue = owner.post(f"{portal}/requests", {"requestType": "get_help", "summary": "A request"})["key"]
    file = owner.post(f"{portal}/requests/{issue}/attachments", {"name": "a.txt", "size": 3})["attachmentId"]
    said = owner.post(f"{org}/issues/{issue}/comments", {"body": "A comment"})["comment"]["commentId"]
    saved = owner.post(f"{org}/issues/filters", {"name": "A filter", "jql": "status = todo"})["filter"]["filterId"]
    return {
        "orgId": org_id,
        "userId": member,
        "teamId": team,
        "databaseId": table["database"]["resourceId"],
        "name": "a-repository",
        "owner": org_id,
        "repository": "a-repository.git",
        "ruleId": rule,
        "lockId": "lck_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "number": "1",
        "reviewId": "prv_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "threadId": "pth_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "pullCommentId": "pcm_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "runId": "run_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "jobId": "job_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "environment": "production",
        "repositoryId": "res_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "artifactId": "art_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "fileId": "art_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "runnerId": "rnr_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "secret": "DEPLOY_KEY",
        "variable": "REGION",
        "environment": "production",
        "principal": me,
        "fingerprint": "5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e",
        "sha": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
        "indexName": "by-email",
        "spaceKey": "WEB",
        "issueKey": issue,
        "issueId": "iss_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "queueId": "unassigned",
        "approvalId": "apv_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "componentId": "cmp_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "versionId": "ver_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "sprintId": "spr_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "issueJobId": "ijb_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "boardId": "brd_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "org": slug,
        "attachmentId": file,
        "who": me,
        "issueCommentId": said,
        "mailHookId": mail_hook["hook"]["hookId"],
        "mailHookToken": mail_hook["url"].rsplit("/", 1)[1],
        "linkId": "ilk_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "workflowId": "wf_basic",
        "filterId": saved,
        "inviteId": invite["invite"]["inviteId"],
        "keyId": key["key"]["keyId"],
        "accessKeyId": access_key,
        "protocolId": protocol_id,
        "escalationId": escalation,
        "rotaId": rota_id,
        "overrideId": override["override"]["overrideId"],
        "hookId": hook["hook"]["hookId"],
        "hookToken": hook["url"].rsplit("/", 1)[1],
        "pageId": page,
        "commentId": comment,
        "importId": imported,
        "resourceId": bucket,
        "version": "1",
        "mailboxId": mailbox_id,
        "domain": f"{slug}.localhost.localdomain",
        "address": "alias@example.org",
        "sender": "bob@example.org",
        "calendarId": calendar,
        "eventId": event_id,
        "mailThreadId": "thr_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "messageId": "msg_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "draftId": "msg_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "part": "2",
        "mailImportId": mail_import,
        "mailExportId": "exp_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "labelId": "lbl_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "mailFilterId": "flt_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "action": "add",
    }


def delivered(owner):
    """The ids of a notice and of what it was sent as, once the server has got to it."""
    for _ in range(600):
        for notice in owner.get("/v1/me/notifications")["notices"]:
            deliveries = owner.get(f"/v1/me/notifications/{notice['noticeId']}/deliveries")["deliveries"]
            if deliveries:
                return notice["noticeId"], deliveries[0]["deliveryId"]
        time.sleep(0.1)
    sys.exit("nobody was told of a sign-in")


def main():
    base, email, password = sys.argv[1:]
    owner = sign_in(base, email, password)
    # What only the person's own app on a phone may do.
    authenticator = sign_in(base, email, password, "authenticator", "ios")
    iphone = sign_in(base, email, password, "maps", "ios")
    _, viewer = register(base, "viewer")
    guesser, _ = register(base, "guesser")
    leaver, _ = register(base, "leaver")
    # One to be ended.
    sign_in(base, email, password, "maps", "android")
    sign_ins = owner.get("/v1/me/sign-ins")["signIns"]
    notice, delivery = delivered(owner)
    everywhere = {
        "signInId": next(each["signInId"] for each in sign_ins if each["platform"] == "android"),
        "deliveryId": delivery,
        "resourceType": "project",
        "type": "ops.alarm",
        "kind": "organization",
        "file": "main.js",
        "path": "actors",
        "deadLetterSeq": "1",
        "jobSeq": "1",
    }
    kept, doomed = organization(owner, "Kept", viewer), organization(owner, "Doomed", viewer)
    app_password = {"name": "A client", "orgId": kept["orgId"], "uses": ["imap"]}
    made = owner.post("/v1/me/app-passwords", app_password)
    everywhere["appPasswordId"] = made["appPassword"]["appPasswordId"]
    cast = {
        "tokens": {
            "owner": owner.token,
            "authenticator": authenticator.token,
            "iphone": iphone.token,
            "command-line": sign_in(base, email, password, "account", "cli").token,
            "guesser": sign_in(base, guesser, PASSWORD).token,
        },
        "leaver": {"email": leaver, "password": PASSWORD},
        "operator": {"email": email, "password": password},
        "kept": everywhere | kept | {"noticeId": notice, "actorKey": kept["orgId"]},
        "doomed": everywhere | doomed | {"actorKey": doomed["orgId"]},
        "short-lived": owner.post("/v1/orgs", {"name": "Short-lived"})["org"]["orgId"],
    }
    json.dump(cast, sys.stdout)


main()
