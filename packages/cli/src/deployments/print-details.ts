import type { Schemas } from "../../../client/src/index.ts";
import type { CliContext, Session } from "../session.ts";
import { type Column, renderFields, renderTable } from "../table.ts";
import { reasonsToWait } from "./follow.ts";
import { toPatchLines } from "./patch-lines.ts";
import { StackNames } from "./stack-names.ts";

type StackOfDeployment = Schemas["StackOfDeployment"];

const SHORT_HASH = 7;
const SIGN_STYLES = { "+": "green", "-": "red", " ": "dim" } as const;

/** A deployment for people. */
export async function printDetails(
  { output }: CliContext,
  session: Session,
  deployment: Schemas["Deployment"],
): Promise<void> {
  const { data } = deployment;
  const names = await StackNames.read(session, deployment.environment_id);
  output.print(
    renderFields([
      ["deployment", deployment.id],
      ["status", deployment.status],
      ...reasonsToWait(deployment).map((reason) => ["waiting", reason] as const),
      ["environment", deployment.environment_id],
      ["source", describeSource(data.source)],
      ["created", deployment.created_at],
      ["started", deployment.started_at],
      ["finished", deployment.finished_at],
    ]),
  );
  const columns: readonly Column<StackOfDeployment>[] = [
    { title: "stack", value: ({ id }) => names.of(id) },
    { title: "status", value: ({ status }) => status },
    { title: "changed", value: ({ timestamp }) => timestamp },
    { title: "reason", value: (stack) => stack.status_reason },
  ];
  if (data.stacks) output.print(`\n${renderTable(columns, data.stacks)}`);
  if (data.patch.length > 0) output.print("");
  printPatch(output, data.patch);
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

/** A commit and an image in one line. Undefined if there is neither. */
export function describeSource(
  source: Schemas["DeploymentSource"] | undefined,
): string | undefined {
  const { git, registry } = source ?? {};
  const ref = git?.ref.replace(/^refs\/(heads|tags)\//, "");
  const commit = git && `${git.owner}/${git.repo}@${ref} ${git.commit.sha.slice(0, SHORT_HASH)}`;
  return [commit ?? [], registry?.image ?? []].flat().join(", ") || undefined;
}
