import { REPORT_LIMITS, type ResourceChange } from "../../../runner/src/report-lines.ts";
import { parsePrinted, type Report, toPrinted } from "../../program/src/index.ts";
import { toPhysicalId, toTemplateId } from "./identifiers.ts";

interface StateResource {
  address: string;
  mode: string;
  type: string;
  values?: Readonly<Record<string, unknown>>;
  sensitive_values?: Readonly<Record<string, unknown>> | boolean;
  tainted?: boolean;
  /** Of an object that a replacement could not delete. */
  deposed_key?: string;
}

interface Module {
  resources?: readonly StateResource[];
  child_modules?: readonly Module[];
}

interface OutputValue {
  sensitive: boolean;
  value?: unknown;
}

/** What `show -json` prints, as https://developer.hashicorp.com/terraform/internals/json-format has it. */
export interface State {
  /** Absent if the state is empty. */
  values?: {
    outputs?: Readonly<Record<string, OutputValue>>;
    root_module?: Module;
  };
}

const OUTPUT_NAME = /^[A-Za-z0-9_.-]+$/;

export function parseState(text: string): State {
  return parsePrinted(text) as State;
}

/** What a run has changed, by address. */
type Changes = ReadonlyMap<string, ResourceChange>;

/** All that the stack has, and what this run has deleted or could not create. */
export function listResources(state: State, changes: Changes): ResourceChange[] {
  const managed = resourcesOf(state.values?.root_module).filter(({ mode }) => mode === "managed");
  const present = managed.map((each) => toResource(each, changes));
  const ids = new Set(present.map(({ template_id }) => template_id));
  const others = [...changes.values()].filter(
    ({ template_id, status }) => !ids.has(template_id) && /^DELETE_|_FAILED$/.test(status),
  );
  return [...present, ...others];
}

function resourcesOf({
  resources = [],
  child_modules: modules = [],
}: Module = {}): StateResource[] {
  return [...resources, ...modules.flatMap(resourcesOf)];
}

function toResource(
  {
    address,
    type,
    values,
    sensitive_values: sensitive,
    tainted,
    deposed_key: deposed,
  }: StateResource,
  changes: Changes,
): ResourceChange {
  const isSensitive = typeof sensitive === "object" ? sensitive["id"] === true : sensitive;
  const id = isSensitive ? undefined : toPhysicalId(values?.["id"]);
  const resource = { resource_type: type, ...(id !== undefined && { physical_id: id }) };
  if (deposed !== undefined) {
    const template_id = toTemplateId(`${address} (deposed ${deposed})`);
    return { ...resource, template_id, status: "DELETE_FAILED" };
  }
  const change = changes.get(address);
  const status = tainted ? "CREATE_FAILED" : "CREATE_COMPLETE";
  return { template_id: toTemplateId(address), status, ...change, ...resource };
}

/** Those that are not sensitive. Texts as they are, others as JSON. */
export function reportOutputs({ values: { outputs = {} } = {} }: State, report: Report): void {
  let count = 0;
  for (const [name, { sensitive, value }] of Object.entries(outputs)) {
    if (sensitive || value === null || value === undefined) continue;
    const text = toPrinted(value);
    const problem = findProblem(name, text, count);
    if (problem === undefined) {
      report.output(name, text);
      count += 1;
    } else console.log(`The output ${name} is not reported: ${problem}.`);
  }
}

function findProblem(name: string, text: string, count: number): string | undefined {
  const { outputs, outputBytes, outputNameLength } = REPORT_LIMITS;
  if (count >= outputs) return `a stack has at most ${outputs}`;
  if (!OUTPUT_NAME.test(name) || name.length > outputNameLength) {
    return `its name may have at most ${outputNameLength} letters, digits, _, . and -`;
  }
  if (Buffer.byteLength(text) > outputBytes) return `it has more than ${outputBytes} bytes`;
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) return "it has control characters";
  return undefined;
}
