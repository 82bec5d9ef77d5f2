"""Other implementations of git against a server: clients.py BASE EMAIL PASSWORD FOLDER

Each clones a repository that git has pushed, commits and pushes a branch of its own, which git then fetches and checks. Git LFS sends
a large file, goes on with one whose download was cut, and locks it. Then seeded
random histories, with merges, renames and submodules, go up by one client and come down by another: the same objects.
TROUPE_GIT_HISTORIES sets how many.
"""

import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import urllib.parse
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


def large_files():
    """Git LFS: files that are sent, cut off half-way and read again, and locks."""
    folder, copy, size = f"{place}/lfs", f"{place}/lfs-copy", 5_000_000
    _, address = repository("lfs")
    content = random.Random(7).randbytes(size)
    oid = hashlib.sha256(content).hexdigest()
    git("init", "-q", "-b", "main", folder)
    git("lfs", "install", "--local", at=folder)
    git("lfs", "track", "--lockable", "*.bin", at=folder)
    git("remote", "add", "origin", address, at=folder)
    git("config", f"lfs.{plain_of(address)}/info/lfs.locksverify", "true", at=folder)
    with open(f"{folder}/large.bin", "wb") as file:
        file.write(content)
    git("add", ".", at=folder)
    git("commit", "-q", "-m", "A large file", at=folder)
    # An upload that breaks off leaves nothing.
    batch = {"operation": "upload", "objects": [{"oid": oid, "size": size}]}
    about = urllib.parse.urlsplit(ask_lfs(address, "objects/batch", batch)["objects"][0]["actions"]["upload"]["href"])
    with socket.create_connection((about.hostname, about.port)) as cut:
        head = f"PUT {about.path}?{about.query} HTTP/1.1\r\nHost: {about.netloc}\r\nContent-Length: {size}\r\n\r\n"
        cut.sendall(head.encode() + content[: size // 2])
    missing = ask_lfs(address, "objects/batch", batch | {"operation": "download"})["objects"][0]
    if missing.get("error", {}).get("code") != 404:
        sys.exit(f"half of a large file is there: {missing}")
    git("push", "-q", "origin", "main", at=folder)
    if git("cat-file", "-s", "main:large.bin", at=folder) == str(size):
        sys.exit("the large file is in git itself")
    # A clone without it, then the rest of a download that was cut at its half.
    os.environ["GIT_LFS_SKIP_SMUDGE"] = "1"
    git("clone", "-q", address, copy)
    del os.environ["GIT_LFS_SKIP_SMUDGE"]
    os.makedirs(f"{copy}/.git/lfs/incomplete")
    with open(f"{copy}/.git/lfs/incomplete/{oid}.part", "wb") as part:
        part.write(content[: size // 2])
    git("lfs", "install", "--local", at=copy)
    pulled = subprocess.run(["git", "lfs", "pull"], cwd=copy, capture_output=True, env=os.environ | {"GIT_CURL_VERBOSE": "1"})
    if pulled.returncode or f"Range: bytes={size // 2}-".encode() not in pulled.stderr or b" 206 " not in pulled.stderr:
        sys.exit(f"git lfs pull doesn't go on: {pulled.stderr.decode(errors='replace')[-2000:]}")
    with open(f"{copy}/large.bin", "rb") as file:
        if file.read() != content:
            sys.exit("another large file came back")
    git("lfs", "fsck", at=copy)
    # Locks: taken, seen, given back.
    git("lfs", "lock", "large.bin", at=copy)
    if "large.bin" not in git("lfs", "locks", at=folder):
        sys.exit("the lock isn't listed")
    git("lfs", "unlock", "large.bin", at=copy)
    if git("lfs", "locks", at=folder):
        sys.exit("the lock is still there")
    print("git-lfs sends, goes on after a cut, locks", flush=True)


def ask_lfs(address, path, body):
    headers = {"Content-Type": "application/vnd.git-lfs+json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(f"{plain_of(address)}/info/lfs/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


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


def by_git(address, folder, _):
    git("clone", "-q", "--mirror", address, folder)


def by_dulwich_alone(address, folder, source):
    porcelain.clone(plain_of(address), folder, bare=True, errstream=porcelain.NoneStream(), username="anyone", password=key).close()
    check_taken(folder, source)
    # It keeps branches under other names: git brings them under their own.
    git("fetch", "-q", address, "+refs/*:refs/*", at=folder)


def check_taken(folder, source):
    """What a client fetched, before another one adds to it: the history's refs with all that they reach, and nothing else."""
    named = {name.replace("refs/remotes/origin/", "refs/heads/", 1): oid for name, oid in refs_of(folder).items()}
    named.pop("refs/heads/HEAD", None)
    if named != refs_of(source):
        sys.exit(f"{folder} has other refs: {named}")
    if objects(folder) != objects(source):
        sys.exit(f"{folder} has other objects than its refs reach")


def refs_of(folder):
    return dict(line.split() for line in git("for-each-ref", "--format=%(refname) %(objectname)", at=folder).splitlines())


def plain_of(address):
    return address.replace(f"anyone:{key}@", "")


if shutil.which("git-lfs"):
    large_files()
else:
    print("git-lfs is not at hand")

for seed in range(HISTORIES):
    dice = random.Random(seed)
    folder, copy = f"{place}/history-{seed}", f"{place}/copy-{seed}"
    history(dice, folder)
    _, address = repository(f"history-{seed}")
    branches = git("for-each-ref", "--format=%(refname)", at=folder).split()
    # In pieces, as people push.
    for ref in dice.sample(branches, len(branches)):
        git("push", "-q", *dice.choice([[], ["--no-thin"]]), address, f"{ref}:{ref}", at=folder)
    dice.choice([by_git, by_dulwich_alone])(address, copy, folder)
    if objects(folder) != objects(copy):
        sys.exit(f"history {seed} came back with other objects")
    refs = "--format=%(refname) %(objectname)"
    if git("for-each-ref", refs, at=folder) != git("for-each-ref", refs, "refs/heads", "refs/tags", at=copy):
        sys.exit(f"history {seed} came back with other refs")
    shutil.rmtree(folder)
    shutil.rmtree(copy)
print(f"{HISTORIES} random histories went up and came down", flush=True)
