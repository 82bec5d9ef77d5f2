// Who judges workflow files: npm's @actions/workflow-parser, and the program.
import { spawnSync } from "node:child_process";
import { NoOperationTraceWriter, convertWorkflowTemplate, parseWorkflow } from "@actions/workflow-parser";

/** `line:column` of all that the parser finds wrong, each place once; `refused` where there is a fault without a place. */
export async function theirs(text) {
  const { context, value } = parseWorkflow({ name: "w.yml", content: text }, new NoOperationTraceWriter());
  if (value && context.errors.getErrors().length === 0) await convertWorkflowTemplate(context, value);
  return places(context.errors.getErrors().map(({ range }) => range && { line: range.start.line, column: range.start.column }));
}

/** The same of the program, for each text. */
export function ours(driver, texts) {
  const asked = texts.map((it) => JSON.stringify(it)).join("\n") + "\n";
  const { status, stdout, stderr } = spawnSync(driver, ["workflows"], { input: asked, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`the program ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split("\n").map((line) => places(JSON.parse(line).filter((it) => it.error)));
}

function places(errors) {
  const all = errors.map((it) => (it && it.line !== null && it.line !== undefined ? [it.line, it.column] : null));
  if (all.includes(null)) return "refused";
  all.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  return [...new Set(all.map((it) => it.join(":")))].join(" ") || "ok";
}
