"""Other implementations of git against a server: clients.py BASE EMAIL PASSWORD FOLDER

Each clones a repository that git has pushed, commits and pushes a branch of its own, which git then fetches and checks. Then seeded
random histories, with merges, renames and submodules, go up by one client and come down by another: the same objects.
TROUPE_GIT_HISTORIES sets how many.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import urllib.request

from dulwich import porcelain
import pygit2

base, email, password, place = sys.argv[1:5]
HISTORIES = int(os.environ.get("TROUPE_GIT_HISTORIES", "6"))
AUTHOR = "Ada <ada@example.com> 1700000000 +0000"
os.environ |= {"GIT_CONFIG_GLOBAL": f"{place}/gitconfig", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "HOME": place}
with open(f"{place}/gitconfig", "w") as config:
    config.write("[user]\n\tname = Ada\n\temail = ada@example.com\n[protocol \"file\"]\n\tallow = always\n")


def ask(path, body, token=None):
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(urllib.request.Request(base + path, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)


def git(*arguments, at=place, said=None):
    ran = subprocess.run(["git", *arguments], cwd=at, input=said, capture_output=True)
    if ran.returncode:
        sys.exit(f"git {' '.join(arguments)}: {ran.stderr.decode()}")
    return ran.stdout.decode().strip()


token = ask("/v1/auth/sign-in", {"email": email, "password": password, "app": "account", "platform": "web", "installId": "ci"})["token"]
org = ask("/v1/orgs", {"name": "Clients of git"}, token)["org"]["orgId"]
key = ask(f"/v1/orgs/{org}/keys", {"name": "CI", "kind": "api", "scopes": ["git:read", "git:write"]}, token)["secret"]


def repository(name):
    made = ask(f"/v1/orgs/{org}/repos", {"name": name}, token)["repository"]["cloneUrl"]
    return made, made.replace("://", f"://anyone:{key}@")


def objects(folder):
    """Every object that a ref reaches, checked."""
    git("fsck", "--full", "--strict", at=folder)
    return set(git("rev-list", "--objects", "--all", "--no-object-names", at=folder).split())


plain, url = repository("clients")
git("init", "-q", "-b", "main", "first")
for at in range(30):
    with open(f"{place}/first/file-{at}", "w") as file:
        file.write(f"text {at}\n" * 50)
    git("add", ".", at=f"{place}/first")
    git("commit", "-q", "-m", f"Commit {at}", at=f"{place}/first")
git("push", "-q", url, "main", at=f"{place}/first")


def written(folder, name):
    with open(f"{folder}/{name}", "w") as file:
        file.write(f"text of {name}\n")


def by_dulwich(folder):
    repo = porcelain.clone(plain, folder, errstream=porcelain.NoneStream(), username="anyone", password=key)
    written(folder, "dulwich")
    porcelain.add(repo, [f"{folder}/dulwich"])
    oid = porcelain.commit(repo, b"By dulwich", author=b"Ada <ada@example.com>", committer=b"Ada <ada@example.com>")
    quiet = {"outstream": porcelain.NoneStream(), "errstream": porcelain.NoneStream()}
    porcelain.push(repo, plain, b"HEAD:refs/heads/dulwich", username="anyone", password=key, **quiet)
    return oid.decode()


def by_pygit2(folder):
    callbacks = pygit2.RemoteCallbacks(credentials=pygit2.UserPass("anyone", key))
    repo = pygit2.clone_repository(plain, folder, callbacks=callbacks)
    written(folder, "pygit2")
    repo.index.add("pygit2")
    author = pygit2.Signature("Ada", "ada@example.com")
    oid = repo.create_commit("HEAD", author, author, "By pygit2", repo.index.write_tree(), [repo.head.target])
    callbacks.push_update_reference = lambda name, refusal: refusal and sys.exit(f"pygit2: {name}: {refusal}")
    repo.remotes["origin"].push(["HEAD:refs/heads/pygit2"], callbacks=callbacks)
    return str(oid)


def by_isomorphic(folder):
    script = os.path.join(os.environ["GIT_CLIENTS_NODE"], "isomorphic.mjs")
    return subprocess.run(["node", script, plain, key, folder], check=True, capture_output=True, text=True).stdout.strip()


def by_jgit(folder):
    script = os.path.join(os.path.dirname(__file__), "JGit.java")
    ran = subprocess.run(["java", "-cp", "/usr/share/java/*", script, plain, key, folder], capture_output=True, text=True)
    return ran.stdout.strip() if ran.returncode == 0 else sys.exit(f"jgit: {ran.stderr}")


clients = {"dulwich": by_dulwich, "pygit2": by_pygit2, "isomorphic": by_isomorphic}
if os.path.exists("/usr/share/java/org.eclipse.jgit.jar") and shutil.which("java"):
    clients["jgit"] = by_jgit
else:
    print("jgit is not at hand")
for name, client in clients.items():
    oid = client(f"{place}/by-{name}")
    git("fetch", "-q", url, f"refs/heads/{name}:refs/heads/{name}", at=f"{place}/first")
    if git("rev-parse", name, at=f"{place}/first") != oid:
        sys.exit(f"{name}: another commit came back")
    print(f"{name} clones and pushes", flush=True)
objects(f"{place}/first")


def history(dice, folder):
    """A repository with a random history, by `git fast-import`."""
    git("init", "-q", "--bare", folder)
    stream, files, heads, marks = [], {0: {}}, {}, 0
    for at in range(dice.randint(20, 120)):
        marks += 1
        branch = f"refs/heads/branch-{dice.randrange(4)}"
        parent = heads.get(branch) or (dice.choice(list(heads.values())) if heads else 0)
        others = [head for head in set(heads.values()) if head != parent]
        stream.append(f"commit {branch}\nmark :{marks}\ncommitter {AUTHOR}\ndata 9\nCommit {at % 10}\n\n")
        if parent:
            stream.append(f"from :{parent}\n")
        merged = dice.sample(others, min(len(others), dice.choice([1, 1, 2]))) if parent and dice.random() < 0.25 else []
        stream += [f"merge :{other}\n" for other in merged]
        there = dict(files[parent])
        for _ in range(dice.randint(1, 5)):
            act = dice.random()
            if there and act < 0.2:
                gone = dice.choice(sorted(there))
                stream.append(f"R {gone} moved-{at}\n")
                there[f"moved-{at}"] = there.pop(gone)
            elif there and act < 0.35:
                gone = dice.choice(sorted(there))
                stream.append(f"D {gone}\n")
                there.pop(gone)
            elif act < 0.42:
                oid = dice.randbytes(20).hex()
                stream.append(f"M 160000 {oid} module-{at % 5}\n")
            else:
                name = f"{dice.choice(['a', 'b/c', 'd/e/f'])}/{dice.randrange(12)}"
                text = "".join(dice.choice("abcdefgh\n") for _ in range(dice.randint(0, 3000)))
                stream.append(f"M {dice.choice(['100644', '100755'])} inline {name}\ndata {len(text)}\n{text}\n")
                there[name] = True
        files[marks], heads[branch] = there, marks
        if dice.random() < 0.1:
            stream.append(f"tag tag-{at}\nfrom :{marks}\ntagger {AUTHOR}\ndata 5\nA tag\n")
    git("fast-import", "--quiet", at=folder, said="".join(stream).encode())


def by_git(address, folder):
    git("clone", "-q", "--mirror", address, folder)


def fetched_by_dulwich(address, folder):
    porcelain.clone(plain_of(address), folder, bare=True, errstream=porcelain.NoneStream(), username="anyone", password=key).close()
    # It takes branches of its own choice only.
    git("fetch", "-q", address, "+refs/*:refs/*", at=folder)


def plain_of(address):
    return address.replace(f"anyone:{key}@", "")


for seed in range(HISTORIES):
    dice = random.Random(seed)
    folder, copy = f"{place}/history-{seed}", f"{place}/copy-{seed}"
    history(dice, folder)
    _, address = repository(f"history-{seed}")
    branches = git("for-each-ref", "--format=%(refname)", at=folder).split()
    # In pieces, as people push.
    for ref in dice.sample(branches, len(branches)):
        git("push", "-q", *dice.choice([[], ["--no-thin"]]), address, f"{ref}:{ref}", at=folder)
    dice.choice([by_git, fetched_by_dulwich])(address, copy)
    if objects(folder) != objects(copy):
        sys.exit(f"history {seed} came back with other objects")
    refs = "--format=%(refname) %(objectname)"
    if git("for-each-ref", refs, at=folder) != git("for-each-ref", refs, "refs/heads", "refs/tags", at=copy):
        sys.exit(f"history {seed} came back with other refs")
    shutil.rmtree(folder)
    shutil.rmtree(copy)
print(f"{HISTORIES} random histories went up and came down", flush=True)
