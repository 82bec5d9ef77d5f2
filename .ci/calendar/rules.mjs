// Random rules, and what npm's ical.js or rrule-temporal makes of them: `node rules.mjs ENGINE < RULES`, lines as `calendar rules`
// writes them.
//
// The times on the wall must be equal, but for classes that are counted (docs/decisions/calendar.md): the start that the rule
// doesn't give, which counts here and not there; the times that clocks skip, which rrule-temporal drops; and what an engine
// doesn't know, each with its reason below. What ends is asked for what it has; what goes on, for the first two dozen.
import { createInterface } from "node:readline";
import vm from "node:vm";

// Milliseconds after which an engine, which walks, is not waited for.
const PATIENCE = 60;
const FIRST = "the start, which the rule doesn't give";
const SKIPPED = "a time that clocks skip, which is dropped there";

const parts = (rule) => Object.fromEntries(rule.split(";").map((part) => part.split("=")));
// `YEARLY BYMONTH BYDAYn`: the frequency and the parts, with an `n` behind weekdays that are counted.
const shape = (rule) =>
  [rule.FREQ, ...Object.keys(rule).filter((name) => name.startsWith("BY")).map((name) => (name === "BYDAY" && /\d/.test(rule.BYDAY) ? "BYDAYn" : name))].join(" ");

// ical.js expands what people's calendars have; of other combinations it gives too much or too little (MONTHLY;BYMONTH with an
// interval, negative days of the month by day, YEARLY;BYWEEKNO, most positions). These are the ones that it knows.
const ICAL_KNOWS = new Set(
  [
    "YEARLY", "YEARLY BYDAY", "YEARLY BYMONTH BYDAY", "YEARLY BYMONTH BYDAYn",
    "MONTHLY", "MONTHLY BYDAY", "MONTHLY BYDAYn", "MONTHLY BYMONTHDAY",
    "WEEKLY", "WEEKLY BYDAY", "WEEKLY BYMONTH", "WEEKLY BYHOUR", "WEEKLY BYMINUTE", "WEEKLY BYSECOND", "WEEKLY BYDAY BYHOUR",
    "WEEKLY BYDAY BYMINUTE", "WEEKLY BYDAY BYSECOND",
    "DAILY", "DAILY BYDAY", "DAILY BYMONTH", "DAILY BYMONTH BYDAY", "DAILY BYHOUR", "DAILY BYMINUTE", "DAILY BYSECOND",
    "HOURLY", "HOURLY BYDAY", "HOURLY BYMONTH", "HOURLY BYMONTH BYDAY",
    "MINUTELY", "MINUTELY BYDAY", "MINUTELY BYMONTH", "MINUTELY BYMONTH BYDAY",
    "SECONDLY", "SECONDLY BYMONTH",
  ],
);

async function icaljs() {
  const { default: ICAL } = await import("ical.js");
  const sorted = (_, name, values) => `${name}=${values.split(",").map(Number).sort((a, b) => a - b).join(",")}`;
  return {
    unknown(rule, it) {
      if (!ICAL_KNOWS.has(shape(rule))) return "a combination that ical.js doesn't know";
      if (shape(rule) === "YEARLY" && it.start.slice(5, 10) === "02-29") return "ical.js has the 1st of March for a 29th of February";
      const moved = rule.INTERVAL && /BYDAYn/.test(shape(rule)) && !it.given;
      return moved ? "ical.js counts intervals from what the rule gives first, and not from the start" : null;
    },
    times(it, most) {
      // It wants numbers in order.
      const rule = it.rule.replace(/(BY(?:MONTH|HOUR|MINUTE|SECOND|MONTHDAY|YEARDAY))=([-0-9,]+)/g, sorted);
      const walk = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromString(it.start));
      const found = [];
      for (let time; found.length < most && (time = walk.next()); ) found.push(time.toString());
      return found;
    },
  };
}

async function rruletemporal() {
  const { RRuleTemporal } = await import("rrule-temporal");
  return {
    zoned: true,
    unknown(rule) {
      const counted = /\d/.test(rule.BYDAY ?? "");
      if (rule.BYWEEKNO && (!rule.BYDAY || rule.BYMONTHDAY)) return "rrule-temporal gives one day of BYWEEKNO, where dateutil gives seven";
      const edge = (rule.BYWEEKNO ?? "").split(",").some((week) => Math.abs(week) === 1 || Math.abs(week) > 51);
      if (edge && (rule.INTERVAL || rule.BYSETPOS)) return "rrule-temporal gives a week that two years share to one of them";
      if (rule.FREQ === "YEARLY" && rule.BYYEARDAY && (rule.BYDAY || rule.BYMONTHDAY)) return "rrule-temporal wants one of BYYEARDAY and the other days, not both";
      if (rule.FREQ === "YEARLY" && rule.BYMONTHDAY && counted) return "rrule-temporal wants one of BYMONTHDAY and counted weekdays, not both";
      if (/53/.test(rule.BYDAY ?? "")) return "rrule-temporal counts the 53rd weekday of a year that has 52 into the next year";
      return null;
    },
    times(it, most) {
      // UNTIL must be in UTC, and is on the wall here.
      const until = (_, wall) => {
        const at = `${wall.slice(0, 4)}-${wall.slice(4, 6)}-${wall.slice(6, 11)}:${wall.slice(11, 13)}:${wall.slice(13)}`;
        const instant = Temporal.PlainDateTime.from(at).toZonedDateTime(it.zone).toInstant().toString();
        return `UNTIL=${instant.replace(/[-:]/g, "")}`;
      };
      const rule = it.rule.replace(/UNTIL=(\w+)/, until);
      const start = it.start.replace(/[-:]/g, "");
      const walk = new RRuleTemporal({ rruleString: `DTSTART;TZID=${it.zone}:${start}\nRRULE:${rule}` });
      const found = [];
      walk.all((time) => {
        if (found.length >= most) return false;
        return found.push(time.toPlainDateTime().toString());
      });
      return found;
    },
  };
}

const name = process.argv[2];
if (name === "rrule-temporal") globalThis.Temporal ??= (await import("temporal-polyfill")).Temporal;
const engine = await (name === "ical.js" ? icaljs() : rruletemporal());
const inTime = (work) => {
  globalThis.work = work;
  return vm.runInThisContext("work()", { timeout: PATIENCE });
};

function judge(it) {
  const rule = parts(it.rule);
  const why = engine.unknown(rule, it);
  if (why) return why;
  let found;
  try {
    found = inTime(() => engine.times(it, it.times.length));
  } catch (error) {
    if (/timed out|Maximum iterations/.test(error.message)) return `${name} took too long`;
    return { error: error.message };
  }
  const kind = agrees(it, rule, found);
  if (kind) return kind;
  // Where clocks skip a time, ours is shown late and theirs is left out, which moves positions, too. Without clock changes both must
  // give the same.
  const steady = { ...it, zone: "UTC" };
  if (it.zone !== "UTC" && engine.zoned && agrees(it, rule, engine.times(steady, it.times.length))) return SKIPPED;
  return { theirs: found };
}

// Equal, or but for the start; or neither.
function agrees(it, rule, found) {
  let kind = "equal";
  if (found[0] !== it.start) [kind, found] = [FIRST, [it.start, ...found]];
  found = found.slice(0, Number(rule.COUNT ?? it.times.length));
  return it.times.every((time, at) => time === found[at]) ? kind : null;
}

const counts = {};
let wrong = 0;
let asked = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const it = JSON.parse(line);
  asked += 1;
  const verdict = judge(it);
  if (typeof verdict === "string") {
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  } else if (++wrong <= 20) {
    console.log(JSON.stringify({ ...it, ...verdict }));
  }
}
console.log(`${name}: ${asked} rules`, counts, `different: ${wrong}`);
// A run that compared next to nothing has shown nothing.
const compared = ["equal", FIRST, SKIPPED].reduce((sum, kind) => sum + (counts[kind] ?? 0), 0);
process.exitCode = wrong > 0 || compared * 3 < asked ? 1 : 0;
