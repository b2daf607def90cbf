import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions } from "../command-options.ts";
import { formatDuration } from "../deployments/duration.ts";
import { CliError } from "../errors.ts";
import { requireIntegration } from "../integrations.ts";
import { toLocalTime } from "../local-time.ts";
import { isId } from "../names.ts";
import type { RecordOptions } from "../output.ts";
import { toPlainText } from "../plain-text.ts";
import { addLimitOption, ignoreMissing } from "../resource.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { type Column, renderFields, renderTable } from "../table.ts";
import { addProjectOption, type ProjectOptions, requireProject } from "../target.ts";

type Delivery = Schemas["Delivery"];
type DeliveryInFull = Schemas["DeliveryInFull"];

const STATUSES = [
  "pending",
  "succeeded",
  "failed",
] as const satisfies readonly Delivery["status"][];
const INTEGRATION = "/v1/projects/{project_id}/notification-integrations/{integration_id}";
const DELIVERY = `${INTEGRATION}/deliveries/{delivery_id}` as const;
const PING = `${INTEGRATION}/ping` as const;

interface Options extends RecordOptions, ProjectOptions {
  status?: Delivery["status"];
  limit: number;
  profile?: string;
}

const ATTEMPTS: readonly Column<Schemas["DeliveryAttempt"]>[] = [
  { title: "attempt", value: ({ number }) => number },
  { title: "time", value: (attempt) => toLocalTime(attempt.started_at) },
  { title: "took", value: (attempt) => formatDuration(attempt.duration_ms) },
  { title: "status", value: (attempt) => attempt.status_code },
  { title: "error", value: ({ error }) => error },
];

const FAILURES = {
  integration_disabled: "The integration is disabled",
  integration_unconfirmed: "The Slack installation is not confirmed",
  too_many_attempts: "Too many attempts ended without a result",
} as const satisfies Record<Schemas["DeliveryFailureReason"], string>;

/** A list does not have the reasons of the receiver: each is read with its delivery. */
const MAXIMUM_REASONS = 20;
const LONGEST_RESPONSE = 80;

/** `longshore deliveries`, `ping` and `redeliver`: what is sent to an integration. */
export function addDeliveryCommands(program: Command, context: CliContext): void {
  const deliveries = addLimitOption(
    addProjectOption(addRecordOptions(program.command("deliveries"))),
  )
    .description(
      `list what was sent to an integration, newest first, and why the newest ${MAXIMUM_REASONS} that failed did`,
    )
    .argument("<integration>", "ID; see longshore integrations ls")
    .addOption(new Option("--status <status>").choices(STATUSES));
  addExamples(
    deliveries,
    "deliveries 1Cg8yK6FQpG43h8EDMqZ3E --status failed",
    "deliveries show 1CgPFTL7UeTsxphVyHHXSf",
  ).action((id: string, _, self: Command) => list(context, id, self.optsWithGlobals()));
  addProjectOption(deliveries.command("show"))
    .description("print one delivery, its attempts, and the last response of the receiver")
    .argument("<delivery>", "ID; see longshore deliveries")
    .option("--json", "print JSON, also with what was sent")
    .action((id: string, _, self: Command) => show(context, id, self.optsWithGlobals()));
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
  const { limit, status } = options;
  const { rows, hasMore } = await session.list<Delivery>(`${INTEGRATION}/deliveries`, {
    path: { project_id, integration_id: id },
    query: { status },
    limit,
  });
  const isForPeople = !options.json && !options.quiet;
  const reasons = isForPeople ? await readReasons(session, project_id, rows) : undefined;
  const { output } = context;
  output.records(
    rows,
    [
      { title: "time", value: (delivery) => toLocalTime(delivery.created_at) },
      { title: "id", value: (delivery) => delivery.id },
      { title: "event", value: ({ type }) => type },
      { title: "status", value: ({ status }) => status },
      { title: "attempts", value: (delivery) => delivery.attempt_count },
      { title: "reason", value: (delivery) => reasons?.get(delivery.id) ?? reasonOf(delivery) },
    ],
    { ...options, id: (delivery) => delivery.id },
  );
  if (rows.length === 0 && !options.json) output.note("There are no deliveries.");
  if (hasMore) output.note(`There are more than ${limit}: add --limit.`);
}

/** The reasons of failed deliveries, by ID. */
async function readReasons(
  session: Session,
  project_id: string,
  rows: readonly Delivery[],
): Promise<Map<string, string | undefined>> {
  const failures = rows.filter(({ status, attempt_count: count }) => {
    return status !== "succeeded" && count > 0;
  });
  const read = failures.slice(0, MAXIMUM_REASONS).map(async ({ id, integration_id }) => {
    const path = { project_id, integration_id, delivery_id: id };
    return [id, reasonOf(await session.client.get(DELIVERY, { path }))] as const;
  });
  return new Map(await Promise.all(read));
}

/** What the receiver has answered last, in one line. What was not sent has a reason of its own. */
function reasonOf({
  failure_reason: reason,
  attempts = [],
}: Delivery & Partial<DeliveryInFull>): string | undefined {
  const { error, response } = attempts.at(-1) ?? {};
  const answer = response?.trim().split("\n")[0]?.slice(0, LONGEST_RESPONSE);
  return [reason ? FAILURES[reason] : [], error ?? [], answer ?? []].flat().join(": ") || undefined;
}

async function show(context: CliContext, id: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const delivery = await findDelivery(context, session, id, options);
  const { output } = context;
  if (options.json) return output.json(delivery);
  const { attempts, failure_reason: reason } = delivery;
  output.print(
    renderFields([
      ["delivery", id],
      ["integration", delivery.integration_id],
      ["event", delivery.type],
      ["status", delivery.status],
      ["created", toLocalTime(delivery.created_at)],
      ["finished", toLocalTime(delivery.finished_at)],
      ["next attempt", toLocalTime(delivery.next_attempt_at)],
      ["reason", reason && FAILURES[reason]],
    ]),
  );
  if (attempts.length > 0) output.print(`\n${renderTable(ATTEMPTS, attempts)}`);
  const response = attempts.at(-1)?.response;
  if (response === undefined) return;
  output.print(`\nThe last response:`);
  for (const line of response.split("\n")) output.print(toPlainText(line));
}

/** The ID of a delivery does not name its integration. */
async function findDelivery(
  context: CliContext,
  session: Session,
  id: string,
  options: Options,
): Promise<DeliveryInFull> {
  const { id: project_id, name } = await requireProject(context, session, options);
  const { data } = await session.client.get("/v1/projects/{project_id}/notification-integrations", {
    path: { project_id },
  });
  for (const integration of isId(id) ? data : []) {
    const path = { project_id, integration_id: integration.id, delivery_id: id };
    const delivery = await session.client.get(DELIVERY, { path }).catch(ignoreMissing);
    if (delivery) return delivery;
  }
  throw new CliError(
    `The project ${name} has no delivery "${id}". Run: longshore deliveries INTEGRATION`,
  );
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
