"""Random rules, and what python-dateutil makes of them: `rules.py < RULES`, lines as `calendar rules` writes them.

The times on the wall must be equal, but for classes that are counted (docs/decisions/calendar.md): the start that the rule
doesn't give, which counts here and not there; and what dateutil doesn't know, each with its reason below.
"""
import datetime as calendar
import json
import signal
import sys
import warnings
from collections import Counter
from datetime import datetime

from dateutil.rrule import rrulestr

warnings.simplefilter("ignore")
# Seconds after which dateutil, which walks, is not waited for.
PATIENCE = 0.1
FIRST = "the start, which the rule doesn't give"


class TooLong(Exception):
    pass


def interrupt(*_):
    raise TooLong


signal.signal(signal.SIGALRM, interrupt)


def theirs(case, most):
    start = datetime.fromisoformat(case["start"])
    to = datetime.fromisoformat(case["to"])
    found = []
    # Where dateutil's walk ends, which would go on to the year 9999.
    calendar.MAXYEAR = to.year
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        for time in rrulestr(case["rule"], dtstart=start):
            if time > to or len(found) == most:
                break
            found.append(time.isoformat())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def parts(rule):
    return dict(part.split("=", 1) for part in rule.split(";"))


def unknown(case):
    """Why dateutil can't be asked, where it can't."""
    rule = parts(case["rule"])
    days = rule.get("BYDAY", "").split(",")
    counted = [day for day in days if len(day) > 2]
    if counted and len(counted) < len(days):
        return "dateutil wants both of BYDAY=MO,2TU, and gives what is each"
    if {"52", "53", "-52", "-53"} & set(rule.get("BYWEEKNO", "").split(",")):
        return "dateutil miscounts the weeks of the years beside a year"
    if rule["FREQ"] == "WEEKLY" and "BYSETPOS" in rule:
        return "dateutil counts the positions of the first week from the start on"
    return None


def main():
    counts = Counter()
    wrong = 0
    for line in sys.stdin:
        case = json.loads(line)
        ours, ended = case["times"], case["ended"]
        if reason := unknown(case):
            counts[reason] += 1
            continue
        try:
            found = theirs(case, len(ours) + 1)
        except TooLong:
            counts["dateutil took too long"] += 1
            continue
        except ValueError as error:
            # It refuses rules that its own walk finds never to meet.
            if "Invalid" in str(error) and ours == [case["start"]]:
                counts["dateutil refuses what never occurs"] += 1
                continue
            raise
        kind = "equal"
        if found[:1] != [case["start"]]:
            kind = FIRST
            found = [case["start"], *found][: int(parts(case["rule"]).get("COUNT", len(found) + 1))]
        if found == ours if ended else found[: len(ours)] == ours:
            counts[kind] += 1
            continue
        wrong += 1
        if wrong <= 20:
            print(json.dumps({**case, "theirs": found}))
    print("python-dateutil:", sum(counts.values()) + wrong, "rules", dict(counts.most_common()), "different:", wrong)
    # A run that compared next to nothing has shown nothing.
    sys.exit(wrong > 0 or (counts["equal"] + counts[FIRST]) * 2 < sum(counts.values()))


main()
