"""Clocks of service desks: what a walk through every minute makes of random histories, and what the program does.

    python sla.py DRIVER COUNT [SEED]

Hours, holidays, zones and histories are random, most of them around changes of the clock. The walk asks `zoneinfo` what the clock
shows in each minute, and counts; elapsed time, the moments at which goals are reached, and states must be equal to the
millisecond. Hours of one span a day, nights among them, are held against PyPI's businesstimedelta too.
"""

import bisect
import datetime
import json
import random
import subprocess
import sys
from zoneinfo import ZoneInfo

import businesstimedelta
import pytz

DRIVER, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
MINUTE = 60_000
WINDOW = 9 * 24 * 60
HISTORIES_OF_A_WINDOW = 5
ZONES = [
    "Europe/Vienna", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Asia/Kolkata", "UTC",
    "Pacific/Apia", "America/Sao_Paulo", "Asia/Tehran", "Pacific/Chatham", "Europe/London",
]
CHANGES = ["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04", "2018-02-18", "2018-11-04", "2011-12-30", "2022-09-21", "2026-09-27"]
STATUSES = ["open", "waiting", "done"]
pick = random.Random(SEED)


def clock(minutes):
    return f"{minutes // 60:02}:{minutes % 60:02}"


def random_hours(days):
    spans = []
    for day in range(7):
        for _ in range(pick.choice([0, 1, 1, 2, 3])):
            start, end = sorted(pick.sample(range(0, 1441, pick.choice([1, 15, 30])), 2)) if pick.random() < 0.8 else (0, 1440)
            spans.append({"day": day, "from": clock(start), "to": clock(end)})
    spans = spans or [{"day": 1, "from": "09:00", "to": "17:00"}]
    holidays = []
    for _ in range(pick.choice([0, 0, 1, 3])):
        day = pick.choice(days)
        yearly = pick.random() < 0.5
        if yearly and (day.month, day.day) != (2, 29):
            day = day.replace(year=day.year + pick.choice([-2, 0, 3]))
        holidays.append({"date": day.isoformat(), "name": "", "yearly": yearly})
    return {"timeZone": pick.choice(ZONES), "days": spans, "holidays": holidays}


class Walk:
    """Which minutes of a window are business time, and how many of them lie before each."""

    def __init__(self, hours, first):
        self.first = first
        zone = ZoneInfo(hours["timeZone"])
        spans = {}
        for span in hours["days"]:
            read = [int(part) for name in ("from", "to") for part in span[name].split(":")]
            spans.setdefault(span["day"], []).append((read[0] * 60 + read[1], read[2] * 60 + read[3]))
        once = {it["date"] for it in hours["holidays"] if not it["yearly"]}
        yearly = {it["date"][5:] for it in hours["holidays"] if it["yearly"]}
        self.before = [0]
        known = {}
        for minute in range(first, first + WINDOW):
            local = datetime.datetime.fromtimestamp(minute * 60, zone)
            day = local.toordinal()
            if day not in known:
                written = local.date().isoformat()
                is_off = written in once or written[5:] in yearly
                known[day] = [] if is_off else spans.get(local.isoweekday() % 7, [])
            at = local.hour * 60 + local.minute
            self.before.append(self.before[-1] + any(start <= at < end for start, end in known[day]))

    def counted(self, at):
        minute, rest = divmod(at, MINUTE)
        place = minute - self.first
        counts = self.before[min(place + 1, WINDOW)] - self.before[place]
        return self.before[place] * MINUTE + (rest if counts else 0)

    def elapsed(self, start, end):
        return self.counted(end) - self.counted(start)

    def reached(self, start, millis):
        if millis <= 0:
            return start
        wanted = self.counted(start) + millis
        place = bisect.bisect_left(self.before, -(-wanted // MINUTE))
        if place >= len(self.before):
            return None
        return (self.first + place - 1) * MINUTE + (wanted - self.before[place - 1] * MINUTE)


class Always:
    elapsed = staticmethod(lambda start, end: max(end - start, 0))
    reached = staticmethod(lambda start, millis: start + max(millis, 0))


EVENTS = [
    {"type": "created"}, {"type": "publicReply"}, {"type": "customerReply"}, {"type": "assigned"}, {"type": "resolved"}, {"type": "reopened"},
    *({"type": kind, "statusId": status} for kind in ("entered", "left") for status in STATUSES),
]
CONDITIONS = [
    {"type": "inStatus", "statusIds": ["waiting"]}, {"type": "inStatus", "statusIds": ["done", "waiting"]}, {"type": "unassigned"},
    {"type": "resolved"}, {"type": "awaitingCustomer"},
]


def random_case(hours, first):
    some = lambda all_, low, high: pick.sample(all_, pick.randint(low, high))
    sla = {"start": some(EVENTS, 1, 4), "stop": some(EVENTS, 1, 3), "pause": some(CONDITIONS, 0, 2)}
    last = (first + WINDOW - 1) * MINUTE
    second = 1_000 if pick.random() < 0.8 else 1
    at, steps, goals = first * MINUTE, [], []
    for number in range(pick.randint(1, 12)):
        at += pick.choice([0, 1, 90, 3_600, 20_000, 86_400]) * pick.randint(0, 3) * 1_000 + (pick.randrange(60_000) // second * second)
        if at > last:
            break
        after = {"statusId": pick.choice(STATUSES), "isAssigned": pick.random() < 0.7, "isResolved": pick.random() < 0.2, "awaitsCustomer": pick.random() < 0.3}
        events = some(EVENTS, 0, 3) + ([{"type": "created"}] if number == 0 else [])
        steps.append({"at": at, "events": events, "after": after})
        changed = not goals or pick.random() < 0.3
        new = {"millis": pick.choice([None, 0, 60_000, 3_600_000, 4 * 3_600_000, 86_400_000, pick.randrange(10**8) // second * second]), "business": pick.random() < 0.8}
        goals.append(new if changed else goals[-1])
    now = min(last, at + pick.randrange(3 * 86_400_000))
    return {"hours": hours, "sla": sla, "steps": steps, "goals": goals, "now": now}


def holds(condition, after):
    kind = condition["type"]
    if kind == "inStatus":
        return after["statusId"] in condition["statusIds"]
    return {"unassigned": not after["isAssigned"], "resolved": after["isResolved"], "awaitingCustomer": after["awaitsCustomer"]}[kind]


def model(case, walk):
    """The cycles, by looking at each stretch between two steps on its own."""
    cycles = []
    points = [*zip(case["steps"], case["goals"]), (None, None)]
    for at, (step, goal) in enumerate(points):
        moment = step["at"] if step else case["now"]
        cycle = cycles[-1] if cycles and cycles[-1]["stoppedAt"] is None else None
        if cycle and not cycle["paused"]:
            calendar, millis, since = cycle["calendar"], cycle["goal"], cycle["since"]
            if millis is not None and cycle["breachedAt"] is None:
                reached = calendar.reached(since, millis - cycle["elapsed"])
                if reached is not None and reached <= moment:
                    cycle["breachedAt"] = reached
                cycle["next"] = reached
            cycle["elapsed"] += calendar.elapsed(since, moment)
            cycle["since"] = moment
        if not step or at == len(points):
            break
        happened = lambda wanted: any(event in wanted for event in step["events"])
        if cycle and happened(case["sla"]["stop"]):
            cycle["stoppedAt"] = moment
            cycle = None
        if cycle is None and happened(case["sla"]["start"]):
            cycle = {"startedAt": moment, "elapsed": 0, "stoppedAt": None, "breachedAt": None}
            cycles.append(cycle)
        if cycle:
            cycle.update(goal=goal["millis"], calendar=walk if goal["business"] else Always, since=moment, next=None)
            cycle["paused"] = any(holds(condition, step["after"]) for condition in case["sla"]["pause"])
            if goal["millis"] is not None and cycle["elapsed"] >= goal["millis"] and cycle["breachedAt"] is None:
                cycle["breachedAt"] = moment
    for cycle in cycles:
        runs = cycle["stoppedAt"] is None and not cycle["paused"]
        cycle["breachesAt"] = cycle["next"] if runs and cycle["breachedAt"] is None else None
        cycle["paused"] = cycle["paused"] and cycle["stoppedAt"] is None
    return cycles


def ask(mode, cases):
    asked = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([DRIVER, mode], input=asked, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


faults = 0


def report(case, mine, other):
    global faults
    faults += 1
    if faults <= 5:
        print(json.dumps(case), "\n  ours  ", json.dumps(mine), "\n  theirs", json.dumps(other), file=sys.stderr)


def histories():
    cases, walks = [], []
    for number in range(0, COUNT, HISTORIES_OF_A_WINDOW):
        near = datetime.date.fromisoformat(pick.choice(CHANGES)) if pick.random() < 0.8 else datetime.date(2026, 1, 1) + datetime.timedelta(pick.randrange(700))
        begin = near - datetime.timedelta(days=pick.randint(1, 4))
        first = (begin - datetime.date(1970, 1, 1)).days * 24 * 60
        hours = random_hours([begin + datetime.timedelta(days=day) for day in range(9)])
        walk = Walk(hours, first)
        for _ in range(min(HISTORIES_OF_A_WINDOW, COUNT - number)):
            cases.append(random_case(hours, first))
            walks.append(walk)
    cycles = breaches = 0
    for case, walk, mine in zip(cases, walks, ask("sla", cases)):
        last = (walk.first + WINDOW) * MINUTE
        names = ["startedAt", "stoppedAt", "elapsed", "paused", "breachedAt", "breachesAt"]
        other = [{name: cycle[name] for name in names} for cycle in model(case, walk)]
        for cycle in mine:
            # The walk ends with its window.
            if cycle["breachesAt"] is not None and cycle["breachesAt"] > last:
                cycle["breachesAt"] = None
        for cycle in other:
            if cycle["breachesAt"] is not None and cycle["breachesAt"] > last:
                cycle["breachesAt"] = None
            cycles += 1
            breaches += cycle["breachedAt"] is not None
        if mine != other:
            report(case, mine, other)
    print(f"{len(cases)} histories, {cycles} cycles, {breaches} goals reached")


def spans_of_one_rule():
    cases, theirs = [], []
    for _ in range(COUNT // 10):
        zone = pick.choice([zone for zone in ZONES if zone != "Pacific/Apia"])
        tz = pytz.timezone(zone)
        is_night = pick.random() < 0.5
        start, end = (pick.randint(20, 23) * 60, pick.randint(4, 8) * 60) if is_night else sorted(pick.sample(range(4 * 60, 1440), 2))
        days = sorted(pick.sample(range(7), pick.randint(1, 7)))
        rule = businesstimedelta.WorkDayRule(
            start_time=datetime.time(start // 60, start % 60), end_time=datetime.time(end // 60, end % 60), working_days=days, tz=tz)
        near = datetime.date.fromisoformat(pick.choice(CHANGES)) - datetime.timedelta(days=pick.randint(1, 5))
        began = tz.localize(datetime.datetime.combine(near, datetime.time(12, pick.randrange(60), pick.randrange(60))))
        ended = began + datetime.timedelta(seconds=pick.randrange(20 * 86_400))
        spans = []
        for day in days:
            sunday_first = (day + 1) % 7
            if is_night:
                spans.append({"day": sunday_first, "from": clock(start), "to": "24:00"})
                spans.append({"day": (sunday_first + 1) % 7, "from": "00:00", "to": clock(end)})
            else:
                spans.append({"day": sunday_first, "from": clock(start), "to": clock(end)})
        cases.append({"hours": {"timeZone": zone, "days": spans, "holidays": []}, "from": int(began.timestamp()) * 1_000, "to": int(ended.timestamp()) * 1_000})
        theirs.append(int(rule.difference(began, ended).timedelta.total_seconds()) * 1_000)
    for case, mine, other in zip(cases, ask("hours", cases), theirs):
        if mine != other:
            report(case, mine, other)
    print(f"{len(cases)} spans of time as businesstimedelta counts them")


histories()
spans_of_one_rule()
print(f"{faults} differences")
sys.exit(1 if faults else 0)
