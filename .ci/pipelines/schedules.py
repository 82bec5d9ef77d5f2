"""Random schedules, and their next times as croniter has them: in UTC, and in zones whose clocks are set.

    python schedules.py DRIVER COUNT [SEED]

COUNT schedules are asked for a few times in UTC, and `TROUPE_PIPELINE_ZONED` of them for a hundred times in each of two zones. There
croniter says what clocks show, and Python's own zones when they show it, by the rules that stand in docs/decisions/pipelines.md:
what a clock leaves out starts when it goes on, and what it shows twice starts once, unless every hour is meant.

Days are Vixie's cron's: one kind of day is enough, unless one of the two fields begins with a star. A bare star within a list
isn't made, which croniter takes as one value among others, no range of one value, which it takes for all of them, and no list
of every day, which it takes for a star.
"""

import json
import os
import random
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, croniter

driver, count = sys.argv[1], int(sys.argv[2])
zoned = int(os.environ.get("TROUPE_PIPELINE_ZONED", 50))
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "sun mon tue wed thu fri sat".split()
TIMES = 6
ZONES = ["Europe/Berlin", "America/New_York"]
TIMES_ZONED = 100
# Further times of which some come before those that a clock shows earlier: those of an hour that it shows twice.
OUT_OF_ORDER = 60
# Rare times are looked for up to here.
YEAR_MAX = 2100


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
    """The times behind one, as croniter has them: seconds of UTC, or of what a clock shows as if it were that of UTC."""
    times = croniter(cron, datetime.fromtimestamp(after, timezone.utc), implement_cron_bug=True, max_years_between_matches=41)
    try:
        while True:
            yield int(times.get_next(float))
    except CroniterBadDateError:
        pass


def means_every_hour(cron):
    hours = croniter.expand(cron)[0][1]
    return hours == ["*"] or set(hours) == set(range(24))


def goes_on(zone, before, behind):
    """When a clock is set, between two moments."""
    offset = datetime.fromtimestamp(before, zone).utcoffset()
    while behind - before > 1:
        middle = (before + behind) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == offset:
            before = middle
        else:
            behind = middle
    return behind


def moments(shown, zone, every_hour):
    """When a zone's clock shows this."""
    first, second = (int(shown.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1))
    if first < second:
        return [first, second] if every_hour else [first]
    if first > second:
        return [] if every_hour else [goes_on(zone, second - 1, first)]
    return [first]


def following_in(cron, after, zone):
    every_hour, found = means_every_hour(cron), set()
    shown = datetime.fromtimestamp(after, zone).replace(tzinfo=timezone.utc) - timedelta(hours=2)
    for at in following(cron, shown.timestamp()):
        shown = datetime.fromtimestamp(at, timezone.utc).replace(tzinfo=None)
        if shown.year >= YEAR_MAX or len(found) >= TIMES_ZONED + OUT_OF_ORDER:
            break
        found.update(moment for moment in moments(shown, zone, every_hour) if moment > after)
    return sorted(found)[:TIMES_ZONED]


def expected_of(one):
    if "timezone" in one:
        return following_in(one["cron"], one["after"], ZoneInfo(one["timezone"]))
    return [at for _, at in zip(range(TIMES), following(one["cron"], one["after"]))]


def names_every_day(cron):
    fields, meant = cron.split(), croniter.expand(cron)[0]
    return any(meant[at] == ["*"] and not fields[at].startswith("*") for at in (2, 4))


def schedule():
    while True:
        cron = " ".join([field(0, 59, star=0.2), field(0, 23), field(1, 31), field(1, 12, MONTHS), field(0, 6, DAYS)])
        if not names_every_day(cron):
            return {"cron": cron, "after": draw.randint(1_600_000_000, 2_000_000_000)}


asked = [{**schedule(), "count": TIMES} for _ in range(count)]
for _ in range(zoned):
    one = schedule()
    asked += [{**one, "timezone": zone, "count": TIMES_ZONED} for zone in ZONES]
said = subprocess.run([driver, "schedules"], input="\n".join(map(json.dumps, asked)), capture_output=True, text=True, check=True).stdout
answers = said.splitlines()
assert len(answers) == len(asked), f"{len(answers)} answers to {len(asked)} questions"
last = datetime(YEAR_MAX, 1, 1, tzinfo=timezone.utc).timestamp()
wrong, times = 0, 0
for one, answer in zip(asked, answers):
    expected, ours = expected_of(one), json.loads(answer)
    if "timezone" in one:
        # At midnight of that year some clocks are ahead, and others behind.
        expected, ours = ([at for at in all_of if at < last - 86_400] for all_of in (expected, ours))
    times += len(ours)
    if expected != ours:
        wrong += 1
        if wrong <= 10:
            shown = [[datetime.fromtimestamp(at, timezone.utc).isoformat() for at in all_of] for all_of in (expected, ours)]
            print(f"{one['cron']!r} after {one['after']}, {one.get('timezone', 'UTC')}:\n  croniter {shown[0]}\n  ours     {shown[1]}")
print(f"{count} schedules in UTC, {zoned} in {' and '.join(ZONES)}, {times} times: {wrong} differ from croniter's")
sys.exit(1 if wrong else 0)
