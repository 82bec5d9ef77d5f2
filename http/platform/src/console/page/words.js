// Numbers, spans and times as people read them.

const number = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "short", timeStyle: "medium" });

export const count = (value) => number.format(value);

export function micros(us) {
  if (us === null || us === undefined) return "–";
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1_000_000) return `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
  return `${(us / 1_000_000).toFixed(1)} s`;
}

export function millis(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(0)} s`;
  if (ms < 3_600_000) return `${(ms / 60_000).toFixed(0)} min`;
  if (ms < 172_800_000) return `${(ms / 3_600_000).toFixed(0)} h`;
  return `${(ms / 86_400_000).toFixed(0)} days`;
}

export const bytes = (value) => (value === 0 ? "–" : `${(value / 1_000_000).toFixed(1)} MB`);
export const rate = (value) => (value < 10 ? value.toFixed(1) : count(Math.round(value)));
export const at = (time) => (time === null || time === undefined ? "–" : clock.format(time));
export const path = (...parts) => parts.map(encodeURIComponent).join("/");
