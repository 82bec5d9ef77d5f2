// Random rules, and what npm's ical.js and rrule-temporal make of them: `node rules.mjs ENGINE < RULES`, lines as
// `calendar rules` writes them.
//
// The times on the wall must be equal, but for the classes that are counted (docs/decisions/calendar.md): the start that the rule
// doesn't give, which counts here and not there; the times that clocks skip, which rrule-temporal drops; and what an engine
// doesn't know, each with its reason below.
import { createInterface } from "node:readline";

const parts = (rule) => Object.fromEntries(rule.split(";").map((part) => part.split("=")));

async function icaljs() {
  const { default: ICAL } = await import("ical.js");
  return {
    unknown: () => null,
    times(it, most) {
      const walk = ICAL.Recur.fromString(it.rule).iterator(ICAL.Time.fromString(it.start));
      const found = [];
      for (let time; found.length < most && (time = walk.next()); ) {
        const wall = time.toString();
        if (wall > it.to) break;
        found.push(wall);
      }
      return found;
    },
  };
}

async function rruletemporal() {
  const { RRuleTemporal } = await import("rrule-temporal");
  return {
    zoned: true,
    unknown: () => null,
    times(it, most) {
      const start = it.start.replace(/[-:]/g, "");
      const rule = it.rule.replace(/UNTIL=(\w+)/, (_, until) => `UNTIL=${until}`);
      const walk = new RRuleTemporal({ rruleString: `DTSTART;TZID=${it.zone}:${start}\nRRULE:${rule}` });
      const found = [];
      walk.all((time) => {
        const wall = time.toPlainDateTime().toString();
        if (wall > it.to || found.length >= most) return false;
        found.push(wall);
        return true;
      });
      return found;
    },
  };
}

const name = process.argv[2];
const engine = await (name === "ical.js" ? icaljs() : rruletemporal());
const counts = new Map();
const count = (kind) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
let wrong = 0;
let asked = 0;
let slowest = [0];
for await (const line of createInterface({ input: process.stdin })) {
  const it = JSON.parse(line);
  asked += 1;
  const why = engine.unknown(it);
  if (why) {
    count(why);
    continue;
  }
  const ours = (engine.zoned && it.shown) || it.times;
  const before = performance.now();
  let found;
  try {
    found = engine.times(it, ours.length + 1);
  } catch (error) {
    found = [String(error)];
  }
  const took = performance.now() - before;
  if (took > slowest[0]) slowest = [took, it.rule];
  let kind = "equal";
  if (found[0] !== it.start) {
    kind = "the start, which the rule doesn't give";
    found = [it.start, ...found].slice(0, Number(parts(it.rule).COUNT ?? Infinity));
  }
  const same = it.ended ? found.length === ours.length : true;
  if (same && ours.every((time, at) => time === found[at])) {
    count(kind);
    continue;
  }
  wrong += 1;
  if (wrong <= Number(process.env.SHOWN ?? 20)) console.log(JSON.stringify({ ...it, theirs: found }));
}
console.log(name, asked, "rules", Object.fromEntries(counts), "different:", wrong, "slowest:", slowest);
process.exitCode = wrong > 0 ? 1 : 0;
