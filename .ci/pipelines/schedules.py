"""Random schedules, and their next times as croniter has them, in UTC (clocks that are set have tests of their own).

    python schedules.py DRIVER COUNT [SEED]

Days are Vixie's cron's: one kind of day is enough, unless one of the two fields begins with a star. A bare star within a list
isn't made, which croniter takes as one value among others, no range of one value, which it takes for all of them, and no list
of every day, which it takes for a star.
"""

import json
import random
import subprocess
import sys
from datetime import datetime, timezone

from croniter import CroniterBadDateError, croniter

driver, count = sys.argv[1], int(sys.argv[2])
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "sun mon tue wed thu fri sat".split()
TIMES = 6


def name(value, names, first):
    if names and draw.random() < 0.3:
        said = names[value - first]
        return draw.choice([said, said.upper(), said.capitalize()])
    return str(value)


def part(low, high, names):
    kind = draw.random()
    first = draw.randint(low, high)
    if kind < 0.5:
        return name(first, names, low)
    last = draw.randint(first, high)
    if kind < 0.8 and first < last:
        span = f"{name(first, names, low)}-{name(last, names, low)}"
        return span if draw.random() < 0.5 else f"{span}/{draw.randint(1, last - first)}"
    return f"*/{draw.randint(2, high - low)}"


def field(low, high, names=None, star=0.4):
    if draw.random() < star:
        return "*"
    return ",".join(part(low, high, names) for _ in range(draw.choice([1, 1, 1, 2, 3])))


def following(cron, after):
    times = croniter(cron, datetime.fromtimestamp(after, timezone.utc), implement_cron_bug=True, max_years_between_matches=41)
    found = []
    try:
        while len(found) < TIMES:
            found.append(int(times.get_next(float)))
    except CroniterBadDateError:
        pass
    return found


def names_every_day(cron):
    fields, meant = cron.split(), croniter.expand(cron)[0]
    return any(meant[at] == ["*"] and not fields[at].startswith("*") for at in (2, 4))


asked = []
while len(asked) < count:
    cron = " ".join([field(0, 59, star=0.2), field(0, 23), field(1, 31), field(1, 12, MONTHS), field(0, 6, DAYS)])
    if names_every_day(cron):
        continue
    asked.append({"cron": cron, "after": draw.randint(1_600_000_000, 2_000_000_000), "count": TIMES})
said = subprocess.run([driver, "schedules"], input="\n".join(map(json.dumps, asked)), capture_output=True, text=True, check=True).stdout
answers = said.splitlines()
assert len(answers) == count, f"{len(answers)} answers to {count} questions"
wrong, times = 0, 0
for one, answer in zip(asked, answers):
    expected, ours = following(one["cron"], one["after"]), json.loads(answer)
    times += len(ours)
    if expected != ours:
        wrong += 1
        if wrong <= 10:
            shown = [[datetime.fromtimestamp(at, timezone.utc).isoformat() for at in all_of] for all_of in (expected, ours)]
            print(f"{one['cron']!r} after {one['after']}:\n  croniter {shown[0]}\n  ours     {shown[1]}")
print(f"{count} schedules, {times} times: {wrong} differ from croniter's")
sys.exit(1 if wrong else 0)
