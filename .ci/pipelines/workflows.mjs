// Workflow files: what npm's @actions/workflow-parser finds wrong, and where, and what the program does.
//
//     node workflows.mjs DRIVER CASES…
//
// The cases stand in domain/src/pipelines/workflow/cases, each behind a line `=== name => what is wrong`, which the tests of the
// package hold the program to. Here the parser is held to the same, but where the line says ` | theirs` and what it finds.
import { readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { NoOperationTraceWriter, convertWorkflowTemplate, parseWorkflow } from "@actions/workflow-parser";

const [driver, ...files] = process.argv.slice(2);

/** `line:column` of all that is wrong, each place once; `refused` where there is a fault without a place. */
async function theirs(text) {
  const { context, value } = parseWorkflow({ name: "w.yml", content: text }, new NoOperationTraceWriter());
  if (value && context.errors.getErrors().length === 0) await convertWorkflowTemplate(context, value);
  return places(context.errors.getErrors().map(({ range }) => range && { line: range.start.line, column: range.start.column }));
}
function ours(texts) {
  const asked = texts.map((it) => JSON.stringify(it)).join("\n") + "\n";
  const { status, stdout, stderr } = spawnSync(driver, ["workflows"], { input: asked, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`the program ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line).filter((it) => it.error));
}
function places(errors) {
  const all = errors.map((it) => (it && it.line !== null && it.line !== undefined ? [it.line, it.column] : null));
  if (all.includes(null)) return "refused";
  all.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  return [...new Set(all.map((it) => it.join(":")))].join(" ") || "ok";
}

const cases = files.flatMap((file) =>
  readFileSync(file, "utf8").replace(/^=== /, "").split("\n=== ").map((it) => {
    const at = it.includes("\n") ? it.indexOf("\n") : it.length;
    const [name, expected] = it.slice(0, at).split(" => ");
    const [mine, other] = expected.split(" | theirs ");
    const text = it.slice(at + 1).replaceAll("␍", "\r").replaceAll("␉", "\t").replaceAll("␄", "\ufeff");
    return { name, mine, other: other ?? mine, text };
  }),
);
const found = ours(cases.map((it) => it.text));
let faults = 0;
for (const [at, { name, mine, other, text }] of cases.entries()) {
  const [now, parsers] = [places(found[at]), await theirs(text)];
  if (now === mine && parsers === other) continue;
  faults += 1;
  console.error(`${name}: ours ${now}, expected ${mine}; theirs ${parsers}, expected ${other}\n${text}`);
}
console.log(`${cases.length} workflow files, ${faults} differences; ${cases.filter((it) => it.mine !== it.other).length} that are meant to be`);
process.exit(faults === 0 ? 0 : 1);
