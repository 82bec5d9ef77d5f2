"""Reads files that the program wrote with PyPI's icalendar: texts, people, and what clocks show by each VTIMEZONE.

Lines of JSON come on standard input: the file, what it says, and instants with what the zone's clock shows then.
"""

import json
import sys
from datetime import datetime, timedelta

from icalendar import Calendar


def check(case: dict) -> None:
    calendar = Calendar.from_ical(case["file"])
    (event,) = calendar.walk("VEVENT")
    for name, said in case["says"].items():
        read = str(event[name])
        assert read == said, f"{name}: {read!r} is not {said!r}"
    for line in case["file"].split("\r\n"):
        assert len(line.encode()) <= 75, f"{line!r} is too long"
    zones = calendar.walk("VTIMEZONE")
    assert [str(zone["TZID"]) for zone in zones] == [case["zone"]]
    # Under a name that nobody has, so that the file's own changes are read and no database.
    zones[0]["TZID"] = "Ours"
    zone = zones[0].to_tz(lookup_tzid=False)
    for wall, instant in case["shown"]:
        clock = datetime.fromisoformat(wall)
        ahead = zone.utcoffset(clock)
        universal = datetime(1970, 1, 1) + timedelta(milliseconds=instant)
        assert clock - ahead == universal, f"{case['zone']}: {wall} is {universal}, and {clock - ahead} by the file"


cases = [json.loads(line) for line in sys.stdin]
for case in cases:
    check(case)
print(f"icalendar: {len(cases)} files say what was written")
