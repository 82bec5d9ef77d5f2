// What waits: timers, the outbox, deliveries, jobs; what was kept instead of sent, or given up; and how the nodes are.

import { facts, h, say, table } from "./elements.js";
import { nodeColumns } from "./overview.js";
import { act, read } from "./server.js";
import * as words from "./words.js";

// A page of some tables, each of which takes its rows out of one answer.
function page(title, path, tables) {
  const made = tables.map(({ name, rows, ...of }) => ({ name, rows, table: table({ caption: name, ...of }) }));
  return {
    title,
    element: h("div", {}, h("h1", {}, title), made.map((one) => [h("h2", {}, one.name), one.table.element])),
    update() {},
    async refresh() {
      const answer = await read(path);
      made.forEach((one) => one.table.update(one.rows(answer)));
    },
  };
}

export const timers = () => page("Timers", "timers", [
  {
    name: "Late", rows: (answer) => answer.late, key: (timer) => `${timer.kind} ${timer.key} ${timer.name}`, empty: "No timer is late.",
    columns: [
      { head: "Kind", value: (timer) => timer.kind },
      { head: "Key", value: (timer) => timer.key, kind: "code" },
      { head: "Timer", value: (timer) => timer.name },
      { head: "Was due", value: (timer) => words.at(timer.due), kind: "number" },
      { head: "Next try", value: (timer) => words.at(timer.nextTry), kind: "number" },
    ],
  },
  {
    name: "By kind", rows: (answer) => answer.kinds, key: (timers) => timers.kind, empty: "No timer is set.",
    columns: [
      { head: "Kind", value: (timers) => timers.kind },
      { head: "Set", value: (timers) => words.count(timers.set), kind: "number" },
      { head: "Late", value: (timers) => words.count(timers.late), kind: "number" },
      { head: "Next due", value: (timers) => words.at(timers.nextDue), kind: "number" },
    ],
  },
]);

export const outbox = () => page("Outbox", "outbox", [
  {
    name: "By topic and state", rows: (answer) => answer.counts, key: (count) => `${count.topic} ${count.state}`, empty: "The outbox is empty.",
    columns: [
      { head: "Topic", value: (count) => count.topic },
      { head: "State", value: (count) => count.state },
      { head: "Entries", value: (count) => words.count(count.entries), kind: "number" },
      { head: "Oldest", value: (count) => words.at(count.oldest), kind: "number" },
    ],
  },
  {
    name: "Failing", rows: (answer) => answer.failing, key: (entry) => entry.seq, empty: "No entry failed.",
    columns: [
      { head: "Number", value: (entry) => entry.seq, kind: "number" },
      { head: "Topic", value: (entry) => entry.topic },
      { head: "Tries", value: (entry) => words.count(entry.attempts), kind: "number" },
      { head: "Committed", value: (entry) => words.at(entry.createdAt), kind: "number" },
      { head: "Next try", value: (entry) => (entry.nextTry === null ? "given up" : words.at(entry.nextTry)), kind: "number" },
      { head: "Error", value: (entry) => entry.error, kind: "text" },
    ],
  },
]);

export const deliveries = () => page("Deliveries", "deliveries", [
  {
    name: "By channel and state", rows: (answer) => answer.counts, key: (count) => `${count.channel} ${count.state}`, empty: "Nothing was delivered in the last 24 hours.",
    columns: [
      { head: "Channel", value: (count) => count.channel },
      { head: "State", value: (count) => count.state },
      { head: "Deliveries", value: (count) => words.count(count.deliveries), kind: "number" },
      { head: "Oldest", value: (count) => words.at(count.oldest), kind: "number" },
    ],
  },
  {
    name: "Failing", rows: (answer) => answer.failing, key: (delivery) => delivery.deliveryId, empty: "No delivery failed in the last 24 hours.",
    columns: [
      { head: "Delivery", value: (delivery) => delivery.deliveryId, kind: "code" },
      { head: "Channel", value: (delivery) => delivery.channel },
      { head: "State", value: (delivery) => delivery.state },
      { head: "Tries", value: (delivery) => words.count(delivery.attempts), kind: "number" },
      { head: "Changed", value: (delivery) => words.at(delivery.updatedAt), kind: "number" },
      { head: "Next try", value: (delivery) => words.at(delivery.nextTry), kind: "number" },
      { head: "Error", value: (delivery) => delivery.error, kind: "text" },
    ],
  },
  {
    name: "Kept instead of sent", rows: (answer) => answer.kept, key: (_, place) => place, empty: "Nothing was kept: every channel is configured, or nothing was sent.",
    columns: [
      { head: "At", value: (message) => words.at(message.createdAt), kind: "number" },
      { head: "Over", value: (message) => message.channel },
      { head: "To", value: (message) => message.to, kind: "code" },
      { head: "Subject", value: (message) => message.subject ?? "" },
      { head: "Text", value: (message) => message.body, kind: "text" },
    ],
  },
]);

// Work that was given up, which operators repeat or drop.
export function deadLetters() {
  const total = h("p", { class: "quiet", role: "status" });
  const does = (what, label, done) => ({
    head: label,
    act: {
      label,
      async run(letter) {
        try {
          await act(`dead-letters/${letter.seq}/${what}`);
          say(`${letter.topic} ${letter.seq}: ${done}`);
        } catch (error) {
          say(error.message, true);
        }
        await refresh().catch(() => {});
      },
    },
  });
  const letters = table({
    caption: "Dead letters", key: (letter) => letter.seq, empty: "No work was given up.",
    columns: [
      { head: "Number", value: (letter) => letter.seq, kind: "number" },
      { head: "Topic", value: (letter) => letter.topic },
      { head: "Of", value: (letter) => letter.tenant ?? "Troupe", kind: "code" },
      { head: "Tries", value: (letter) => words.count(letter.attempts), kind: "number" },
      { head: "Added", value: (letter) => words.at(letter.createdAt), kind: "number" },
      { head: "Error", value: (letter) => letter.error, kind: "text" },
      does("repeat", "Repeat", "it is tried again"),
      does("drop", "Drop", "it is forgotten"),
    ],
  });
  async function refresh() {
    const answer = await read("dead-letters");
    total.textContent = `${words.count(answer.total)} in all`;
    letters.update(answer.deadLetters);
  }
  return {
    title: "Dead letters",
    element: h("div", {}, h("h1", {}, "Dead letters"), total, letters.element),
    update() {},
    refresh,
  };
}

// What a job has done so far: {steps: 2, rows: {members: 1500}} as "2 steps, 1,500 members".
function progressOf({ progress }) {
  if (progress === null) return "not begun";
  const told = (name, value) => (value !== null && typeof value === "object"
    ? Object.entries(value).map(([part, amount]) => told(part, amount))
    : `${typeof value === "number" ? words.count(value) : value} ${name}`);
  return [told("", progress)].flat(Infinity).join(", ");
}

// Long work in steps, which operators watch, and cancel where it can be.
export function jobs() {
  const total = h("p", { class: "quiet", role: "status" });
  const cancel = {
    label: "Cancel",
    when: (job) => job.canBeCancelled,
    async run(job) {
      try {
        await act(`jobs/${job.seq}/cancel`);
        say(`${job.topic} ${job.seq}: it stops at its next step`);
      } catch (error) {
        say(error.message, true);
      }
      await refresh().catch(() => {});
    },
  };
  const list = table({
    caption: "Jobs", key: (job) => job.seq, empty: "No job waits or is under way.",
    columns: [
      { head: "Number", value: (job) => job.seq, kind: "number" },
      { head: "Topic", value: (job) => job.topic },
      { head: "Of", value: (job) => job.tenant ?? "Troupe", kind: "code" },
      { head: "State", value: (job) => (job.cancelled ? "stops" : job.state) },
      { head: "Done", value: progressOf, kind: "text" },
      { head: "Tries", value: (job) => words.count(job.attempts), kind: "number" },
      { head: "Added", value: (job) => words.at(job.createdAt), kind: "number" },
      { head: "Next look", value: (job) => words.at(job.nextTry), kind: "number" },
      { head: "Error", value: (job) => job.error ?? "", kind: "text" },
      { head: "Cancel", act: cancel },
    ],
  });
  async function refresh() {
    const answer = await read("jobs");
    total.textContent = `${words.count(answer.total)} in all`;
    list.update(answer.jobs);
  }
  return {
    title: "Jobs",
    element: h("div", {}, h("h1", {}, "Jobs"), total, list.element),
    update() {},
    refresh,
  };
}

export function health({ history }) {
  const now = facts();
  const nodes = table({ caption: "Nodes", columns: nodeColumns, key: (node) => node.node, empty: "No node has said yet that it is there." });
  return {
    title: "Health",
    element: h("div", {}, h("h1", {}, "Health"), now.element, h("h2", {}, "Nodes, when they said so last"), nodes.element),
    update() {
      if (!history.health) return;
      const { node, databaseUs, hub, hubConnected, hubForSeconds, residentBytes } = history.health;
      now.update([
        ["Node", node],
        ["Database", databaseUs === null ? "away" : `answers in ${words.micros(databaseUs)}`, databaseUs === null],
        [hub === "redis" ? "Redis" : "Hub in process", `${hubConnected ? "ok" : "away"} for ${words.millis(hubForSeconds * 1000)}`, !hubConnected],
        ["Memory", words.bytes(residentBytes)],
      ]);
    },
    async refresh(all) {
      nodes.update(all);
    },
  };
}
