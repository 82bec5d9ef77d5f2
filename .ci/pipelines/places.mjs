// What expressions may name at each place of a workflow file: files made from the schema that npm's @actions/workflow-parser
// publishes, each with one expression at one place, and whether the parser and the program take it.
//
//     node places.mjs DRIVER
import { getWorkflowSchema } from "@actions/workflow-parser/workflows/workflow-schema";
import { ours, theirs } from "./judges.mjs";

const driver = process.argv[2];
const schema = getWorkflowSchema();

/** What isn't here, see docs/decisions/pipelines.md: keys, and kinds of jobs and steps. */
const ABSENT_KEYS = new Set(["background", "cancel-timeout-minutes", "container", "services", "snapshot"]);
const ABSENT_KINDS = new Set(["workflow-job", "wait-step", "wait-all-step", "cancel-step", "parallel-step"]);
/** The events that start something here. */
const EVENTS = new Set(["pull_request", "push", "schedule", "workflow_dispatch"]);
/** What stands where something has to, by its key. */
const REQUIRED = {
  on: "push",
  jobs: { a: { "runs-on": "x" } },
  "runs-on": "x",
  run: "x",
  uses: "actions/checkout@v4",
  group: "x",
  name: "x",
  cron: "0 0 * * *",
};
/** Fewer places mean that the schema is read in a wrong way. */
const PLACES_MIN = 40;

/** The kinds of value that a type stands for. */
function kinds(type) {
  const definition = schema.getDefinition(type);
  if (definition.oneOf === undefined) return [definition];
  return definition.oneOf.filter((it) => !ABSENT_KINDS.has(it)).flatMap(kinds);
}

/** A place of this type and all below it: what it is called, and how to make a file with a value there. */
function* below(type, path, file) {
  yield { path, file };
  if (type === "any") return;
  for (const kind of kinds(type)) {
    if (kind.itemType) yield* below(kind.itemType, `${path}[]`, (value) => file([value]));
    if (kind.properties === undefined) continue;
    const properties = Object.entries(kind.properties);
    const rest = Object.fromEntries(properties.filter(([, it]) => it.required).map(([name]) => [name, REQUIRED[name] ?? "x"]));
    for (const [name, property] of properties) {
      if (ABSENT_KEYS.has(name) || (kind.key === "on-mapping-strict" && !EVENTS.has(name))) continue;
      yield* below(property.type, `${path}.${name}`, (value) => file({ ...rest, [name]: value }));
    }
    if (kind.looseValueType) yield* below(kind.looseValueType, `${path}.*`, (value) => file({ ...rest, a: value }));
  }
}

/** Each context that any place knows, and each function with too few arguments, enough, and too many. */
function expressions() {
  const found = new Set(["nobody"]);
  for (const it of Object.values(schema.definitions).flatMap((definition) => definition.readerContext)) {
    const call = /^(\w+)\((\d+),(\d+|MAX)\)$/.exec(it);
    if (call === null) {
      found.add(it);
      continue;
    }
    const least = Number(call[2]);
    const most = call[3] === "MAX" ? least + 2 : Number(call[3]);
    for (const count of [least - 1, least, most, most + 1].filter((it) => it >= 0)) {
      found.add(`${call[1]}(${Array(count).fill("'a'").join(", ")})`);
    }
  }
  return [...found];
}

const found = [...below("workflow-root-strict", "", (value) => value)].slice(1);
if (found.length < PLACES_MIN) throw new Error(`the schema has only ${found.length} places`);
const bare = expressions();
const wrapped = bare.map((it) => `\${{ ${it} }}`);
const asked = found.flatMap(({ path, file }) => {
  // A condition needs no `${{ }}`.
  const values = path.endsWith(".if") ? [...wrapped, ...bare] : wrapped;
  return values.map((value) => ({ path, value, text: JSON.stringify(file(value)) }));
});
const judged = ours(driver, asked.map((it) => it.text));
let faults = 0;
for (const [at, { path, value, text }] of asked.entries()) {
  const other = await theirs(text);
  if ((judged[at] === "ok") === (other === "ok")) continue;
  faults += 1;
  console.error(`${path}: ${value}: ours ${judged[at]}, theirs ${other}\n${text}`);
}
console.log(`${asked.length} expressions at ${found.length} places of workflow files, ${faults} differences`);
process.exit(faults === 0 ? 0 : 1);
