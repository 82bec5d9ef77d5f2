"""Real projects as jobs of the real runner: jobs.py BASE EMAIL PASSWORD PROGRAM FOLDER PROJECT…

Each project is pushed with git; its run has to end well, and what the log has to show is looked for in it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.request

base, email, password, program, place, *projects = sys.argv[1:]
here = pathlib.Path(__file__).parent
place = pathlib.Path(place)
# How long a run may take, in seconds.
PATIENCE = 1800
# What the logs of a project's jobs have to show, and what they must not.
SHOWN = {
    "core": (["information", "##[warning]a warning", "it is ***"], ["hunter22", "nobody sees this"]),
    "npm": (["# pass 2"], []),
    "pytest": (["3 passed", "python 42"], []),
    "troupe": (["test result: ok."], []),
}


def ask(path, body=None, token=None):
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as answer:
        text = answer.read().decode()
        return json.loads(text) if answer.headers.get_content_type() == "application/json" else text


def git(folder, *arguments):
    names = {f"GIT_{role}_{what}": f"{role}@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    ran = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, env=os.environ | names)
    return ran.returncode, ran.stdout + ran.stderr


def well(folder, *arguments):
    status, said = git(folder, *arguments)
    if status:
        sys.exit(f"git {' '.join(arguments)}: {said}")


def made(project):
    """The project's files in a repository of their own, this project's own among them where that is what is tested."""
    folder = place / project
    folder.mkdir()
    if project == "troupe":
        top = subprocess.run(["git", "rev-parse", "--show-toplevel"], cwd=here, capture_output=True, text=True, check=True)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=top.stdout.strip(), capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=folder, input=archive, check=True)
    shutil.copytree(here / "projects" / project, folder, dirs_exist_ok=True)
    well(folder, "init", "--quiet", "--initial-branch=main")
    well(folder, "add", "--all", "--force")
    well(folder, "commit", "--quiet", "-m", f"The project {project}")
    return folder


def push(folder, url):
    status, said = git(folder, "push", url, "main")
    # Tests have secrets that are none; whoever pushes says so.
    allowed = sorted(set(re.findall(r"secret\.allow=\S+", said)))
    if status and allowed:
        status, said = git(folder, "push", *(option for it in allowed for option in ("-o", it)), url, "main")
    if status:
        sys.exit(f"{folder.name} isn't taken: {said}")


token = ask("/v1/auth/sign-in", {"email": email, "password": password, "app": "account", "platform": "web", "installId": "ci"})["token"]
org = "/v1/orgs/" + ask("/v1/orgs", {"name": "Jobs"}, token)["org"]["orgId"]
key = ask(f"{org}/keys", {"name": "CI", "kind": "api", "scopes": ["git:read", "git:write"]}, token)["secret"]
registration = ask(f"{org}/pipelines/runners/token", {}, token)["token"]
home = str(place / "runner")
subprocess.run([program, "runner", "register", base, registration, "--name", "ci", "--folder", home], check=True)
runner = subprocess.Popen([program, "runner", "run", "--jobs", "2", "--folder", home], stdout=subprocess.DEVNULL)
try:
    for project in projects:
        began = time.monotonic()
        url = ask(f"{org}/repos", {"name": project}, token)["repository"]["cloneUrl"]
        push(made(project), url.replace("://", f"://anyone:{key}@"))
        runs = f"{org}/repos/{project}/pipelines/runs"
        while True:
            if time.monotonic() - began > PATIENCE:
                sys.exit(f"{project} doesn't end")
            time.sleep(0.5)
            found = ask(runs, token=token)["runs"]
            if found and found[0]["status"] == "completed":
                break
        run = found[0]
        detail = ask(f"{runs}/{run['runId']}", token=token)
        logs = {job["name"]: ask(f"{runs}/{run['runId']}/jobs/{job['jobId']}/log/raw", token=token) for job in detail["jobs"]}
        text = "\n".join(logs.values())
        wanted, unwanted = SHOWN[project]
        faults = [f"the log doesn't show {it!r}" for it in wanted if it not in text]
        # A script is shown before it runs; what it prints counts.
        faults += [f"the log shows {it!r}" for it in unwanted if it in text]
        if run["conclusion"] != "success":
            faults.append(f"the run ended as {run['conclusion']}")
        if faults:
            sys.exit(f"{text}\n{project}: {'; '.join(faults)}")
        jobs = ", ".join(f"{job['name']} {job['conclusion']}" for job in detail["jobs"])
        print(f"{project}: {jobs} ({time.monotonic() - began:.0f} s)")
        if project == "core":
            annotated = [ask(f"{runs}/{run['runId']}/jobs/{job['jobId']}", token=token) for job in detail["jobs"]]
            levels = sorted(it["level"] for job in annotated for it in job["annotations"])
            assert "notice" in levels and "warning" in levels and "error" in levels, levels
            assert "Summed up" in annotated[0]["summary"], annotated[0]["summary"]
finally:
    runner.terminate()
    runner.wait()
