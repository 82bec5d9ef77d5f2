// Small charts of the last minutes, drawn by hand.

import { h, setText, svg } from "./elements.js";

const WIDTH = 300;
const HEIGHT = 60;
// Room above the highest point, so that its line is whole.
const AIR = 4;

function line(values, highest, room) {
  if (values.length === 0) return "";
  const step = WIDTH / Math.max(room - 1, 1);
  const start = WIDTH - step * (values.length - 1);
  return values
    .map((value, place) => {
      const y = HEIGHT - (value / highest) * (HEIGHT - AIR) - 1;
      return `${place === 0 ? "M" : "L"}${(start + place * step).toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}

// A chart of one series or two; `show` says how a value reads, `room` how many values fit.
export function chart({ label, show, room, names = [label] }) {
  const paths = names.map((_, place) => svg("path", { class: place === 0 ? "first" : "second" }));
  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" }, paths);
  const now = h("output");
  const element = h("figure", {}, drawing, h("figcaption", {}, h("span", {}, label), now));
  return {
    element,
    update(series) {
      const highest = Math.max(1e-9, ...series.flat());
      series.forEach((values, place) => paths[place].setAttribute("d", line(values, highest, room)));
      const latest = series.map((values) => show(values.at(-1) ?? 0));
      setText(now, latest.join(" · "));
      const words = names.map((name, place) => `${name} ${latest[place]}`).join(", ");
      drawing.setAttribute("aria-label", `${label}: now ${words}; at most ${show(highest < 1e-6 ? 0 : highest)}`);
    },
  };
}
