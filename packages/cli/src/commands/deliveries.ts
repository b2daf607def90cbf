import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions } from "../command-options.ts";
import { requireIntegration } from "../integrations.ts";
import { toLocalTime } from "../local-time.ts";
import type { RecordOptions } from "../output.ts";
import { addLimitOption } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import { addProjectOption, type ProjectOptions } from "../target.ts";
import { printRecords } from "../time-lists.ts";

type Delivery = Schemas["Delivery"];

const STATUSES = [
  "pending",
  "succeeded",
  "failed",
] as const satisfies readonly Delivery["status"][];
const INTEGRATION = "/v1/projects/{project_id}/notification-integrations/{integration_id}";
const PING = `${INTEGRATION}/ping` as const;

interface Options extends RecordOptions, ProjectOptions {
  status?: Delivery["status"];
  limit: number;
  profile?: string;
}

/** `longshore deliveries`, `ping` and `redeliver`: what is sent to an integration. */
export function addDeliveryCommands(program: Command, context: CliContext): void {
  addExamples(
    addLimitOption(addProjectOption(addRecordOptions(program.command("deliveries"))))
      .description("list what was sent to an integration, newest first")
      .argument("<integration>", "ID; see longshore integrations ls")
      .addOption(new Option("--status <status>").choices(STATUSES)),
    "deliveries 1Cg8yK6FQpG43h8EDMqZ3E --status failed",
  ).action((id: string, _, self: Command) => list(context, id, self.optsWithGlobals()));
  addExamples(
    addProjectOption(addRecordOptions(program.command("ping")))
      .description("send an event of the type ping to an integration")
      .argument("<integration>", "ID; see longshore integrations ls"),
    "ping 1Cg8yK6FQpG43h8EDMqZ3E",
  ).action((id: string, _, self: Command) =>
    send(context, id, "/ping", {}, self.optsWithGlobals()),
  );
  addExamples(
    addProjectOption(addRecordOptions(program.command("redeliver")))
      .description("send an event again")
      .argument("<integration>", "ID; see longshore integrations ls")
      .argument("<delivery>", "ID; see longshore deliveries"),
    "redeliver 1Cg8yK6FQpG43h8EDMqZ3E 1CgPFTL7UeTsxphVyHHXSf",
  ).action((id: string, delivery_id: string, _, self: Command) => {
    const path = "/deliveries/{delivery_id}/redeliver";
    return send(context, id, path, { delivery_id }, self.optsWithGlobals());
  });
}

async function list(context: CliContext, id: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { project_id } = await requireIntegration(context, session, options, id);
  await printRecords<Delivery>(context, session, options, {
    noun: "deliveries",
    listPath: `${INTEGRATION}/deliveries`,
    path: { project_id, integration_id: id },
    query: { status: options.status },
    columns: [
      { title: "time", value: (delivery) => toLocalTime(delivery.created_at) },
      { title: "id", value: (delivery) => delivery.id },
      { title: "event", value: ({ type }) => type },
      { title: "status", value: ({ status }) => status },
      { title: "attempts", value: (delivery) => delivery.attempt_count },
      { title: "reason", value: (delivery) => delivery.failure_reason },
    ],
  });
}

/** Prints the new delivery. */
async function send(
  context: CliContext,
  id: string,
  path: string,
  parameters: Record<string, string>,
  options: Options,
): Promise<void> {
  const session = await openSession(context, options);
  const { project_id } = await requireIntegration(context, session, options, id);
  const delivery = await session.client.post(`${INTEGRATION}${path}` as typeof PING, {
    path: { project_id, integration_id: id, ...parameters },
  });
  context.output.record(delivery, { ...options, id: (row) => row.id });
}
