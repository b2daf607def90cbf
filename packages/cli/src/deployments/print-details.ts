import type { Schemas } from "../../../client/src/index.ts";
import { toLocalTime } from "../local-time.ts";
import type { RecordOptions } from "../output.ts";
import type { CliContext, Session } from "../session.ts";
import { type Column, renderFields, renderTable } from "../table.ts";
import {
  describeCreator,
  describeSeconds,
  describeSource,
  explainOutcome,
  explainStacks,
} from "./describe.ts";
import { readPlace } from "./find-deployment.ts";
import { reasonsToWait } from "./follow.ts";
import { toPatchLines } from "./patch-lines.ts";
import { StackNames } from "./stack-names.ts";

type StackOfDeployment = Schemas["StackOfDeployment"];

const SIGN_STYLES = { "+": "green", "-": "red", " ": "dim" } as const;

/** A deployment with its stacks, its source and its patch. */
export async function printDetails(
  { output }: CliContext,
  session: Session,
  deployment: Schemas["Deployment"],
  options: RecordOptions,
): Promise<void> {
  if (options.json || options.quiet) {
    return output.record(deployment, { ...options, id: ({ id }) => id });
  }
  const { data } = deployment;
  const [place, names] = await Promise.all([
    readPlace(session, deployment.environment_id),
    StackNames.read(session, deployment.environment_id),
  ]);
  output.print(renderFields(fieldsOf(deployment, place, session)));
  const reasons = explainStacks(deployment);
  const columns: readonly Column<StackOfDeployment>[] = [
    { title: "stack", value: ({ id }) => names.of(id) },
    { title: "status", value: ({ status }) => status },
    { title: "changed", value: ({ timestamp }) => toLocalTime(timestamp) },
    { title: "took", value: (stack) => describeSeconds(stack.run_seconds) },
    { title: "reason", value: ({ id }) => reasons.get(id) },
  ];
  if (data.stacks) output.print(`\n${renderTable(columns, data.stacks)}`);
  if (data.patch.length > 0) output.print("");
  printPatch(output, data.patch);
}

type Field = readonly [name: string, value: string | undefined];

/** Those that are always there, with a dash if they are empty, and those that only some deployments have. */
function fieldsOf(
  deployment: Schemas["Deployment"],
  { project, environment }: Awaited<ReturnType<typeof readPlace>>,
  session: Session,
): Field[] {
  const { id, status, data, created_at, started_at, finished_at } = deployment;
  const { created_by, reason, trigger, from_deployment_id: from, runner } = deployment;
  const optional: Field[] = [
    ["job", created_by?.run_url],
    ["reason", reason],
    ["trigger", trigger === "api" ? undefined : from ? `${trigger} of ${from}` : trigger],
    ["override", deployment.overridden?.reason],
    ["runner", runner && [runner.pool.name, runner.name ?? []].flat().join(", ")],
    ["waited", describeSeconds(deployment.queued_seconds)],
    ["took", describeSeconds(deployment.run_seconds)],
    ["ended with", explainOutcome(deployment)],
  ];
  return [
    ["deployment", id],
    ["status", status],
    ...reasonsToWait(deployment).map((reason) => ["waiting", reason] as const),
    ["project", project],
    ["environment", environment],
    ["source", describeSource(data.source)],
    ["created by", describeCreator(created_by)],
    ["created", toLocalTime(created_at)],
    ["started", started_at && toLocalTime(started_at)],
    ["finished", finished_at && toLocalTime(finished_at)],
    ...optional.filter(([, value]) => value),
    ["link", session.linkTo(id)],
  ];
}

/** As a diff. */
export function printPatch(
  output: CliContext["output"],
  patch: Parameters<typeof toPatchLines>[0],
) {
  for (const { sign, text } of toPatchLines(patch)) {
    output.print(output.paint(SIGN_STYLES[sign], `${sign} ${text}`));
  }
}
