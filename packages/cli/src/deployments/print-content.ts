import type { Schemas } from "../../../client/src/index.ts";
import { toLocalTime } from "../local-time.ts";
import type { CliContext, Session } from "../session.ts";
import { renderFields } from "../table.ts";
import { describeCreator, describeReason, describeSource } from "./describe.ts";
import { readPlace } from "./find-deployment.ts";
import { printPatch } from "./print-details.ts";
import { StackNames } from "./stack-names.ts";

type Deployment = Schemas["Deployment"];
type Patch = Parameters<typeof printPatch>[1];

/** What a deployment deploys and where, and who wants that: what a person decides about. */
export async function printContent(
  { output }: CliContext,
  session: Session,
  deployment: Deployment,
  diff: Patch,
): Promise<void> {
  const { id, environment_id, data, stack_ids, created_by, created_at } = deployment;
  const [place, names] = await Promise.all([
    readPlace(session, environment_id),
    StackNames.read(session, environment_id),
  ]);
  output.print(
    renderFields([
      ["deployment", id],
      ["project", place.project],
      ["environment", place.environment],
      ["source", describeSource(data.source)],
      ["message", data.source?.git?.commit.message.split("\n")[0]],
      ["stacks", stack_ids.map((stack) => names.of(stack)).join(", ")],
      ["created by", describeCreator(created_by)],
      ["created", toLocalTime(created_at)],
      ["reason", describeReason(deployment)],
      ["link", session.linkToApproval(id)],
    ]),
  );
  if (diff.length > 0) output.print("");
  printPatch(output, diff);
}
