import { type Command, InvalidArgumentError, Option } from "commander";
import {
  NOTIFICATION_KINDS,
  type NotificationKind,
} from "../../../../src/features/housekeeping/outbox/events.ts";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions, collect } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { requireIntegration } from "../integrations.ts";
import { KINDS } from "../named-kinds.ts";
import { findOptionalRecord, findRecord, isId } from "../names.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import { createSecret } from "../secret-file.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { addProjectOption, type ProjectOptions, requireProject } from "../target.ts";

type Integration = Schemas["Integration"];

interface Options extends RecordOptions, ProjectOptions {
  event?: NotificationKind[];
  output?: string;
  yes?: boolean;
  profile?: string;
}

interface UpdateOptions extends Options {
  url?: string;
  withoutEvent?: NotificationKind[];
  environment?: string[];
  allEnvironments?: boolean;
  stack?: string[];
  allStacks?: boolean;
}

const INTEGRATION = "/v1/projects/{project_id}/notification-integrations/{integration_id}";

export function addIntegrationCommands(program: Command, context: CliContext): void {
  const group = program
    .command("integrations")
    .description("webhooks and Slack channels that are notified; each is named by its ID");
  addProjectOption(addRecordOptions(group.command("ls")))
    .description("list the integrations of a project")
    .action((_, self: Command) => list(context, self.optsWithGlobals()));
  addProjectOption(group.command("show"))
    .description("print one integration")
    .argument("<id>")
    .option("--json", "print JSON, for programs")
    .action((id: string, _, self: Command) => show(context, id, self.optsWithGlobals()));
  addExamples(
    addProjectOption(addRecordOptions(group.command("create")))
      .description("create a webhook; its secret is shown only once")
      .argument("<url>")
      .addOption(kindOption("--event", "that is sent"))
      .option("--output <file>", "write the secret to this file, with the mode 0600"),
    "integrations create https://ci.example.com/hooks --event deployments_failed",
  ).action((url: string, _, self: Command) => create(context, url, self.optsWithGlobals()));
  addUpdateCommand(group, context);
  addProjectOption(addRecordOptions(group.command("resume")))
    .description("end the pause of an integration, and send at once what waits for a retry")
    .argument("<id>")
    .action((id: string, _, self: Command) => resume(context, id, self.optsWithGlobals()));
  addExamples(
    addConsentOption(addProjectOption(addRecordOptions(group.command("rotate-secret"))))
      .description("replace the secret of a webhook; the previous one signs, too, for 24 hours")
      .argument("<id>")
      .option("--output <file>", "write the secret to this file, with the mode 0600"),
    "integrations rotate-secret 1Cg8yK6FQpG43h8EDMqZ3E --output webhook.secret",
  ).action((id: string, _, self: Command) => rotateSecret(context, id, self.optsWithGlobals()));
  addConsentOption(addProjectOption(group.command("rm")))
    .description("delete one integration")
    .argument("<id>")
    .action((id: string, _, self: Command) => remove(context, id, self.optsWithGlobals()));
}

function addUpdateCommand(group: Command, context: CliContext): void {
  addExamples(
    addProjectOption(addRecordOptions(group.command("update")))
      .description("change what is sent, and where; any update enables a disabled integration")
      .argument("<id>")
      .option("--url <url>", "of a webhook: where it is sent")
      .addOption(kindOption("--event", "start sending this"))
      .addOption(kindOption("--without-event", "stop sending this"))
      .option(
        "-e, --environment <name>",
        "only events of this one, by name or ID; may be repeated",
        collect,
      )
      .option(
        "--stack <name>",
        "only events of this one, by ID, or by name in a given --environment; may be repeated",
        collect,
      )
      .addOption(
        new Option("--all-environments", "events of all environments").conflicts("environment"),
      )
      .addOption(new Option("--all-stacks", "events of all stacks").conflicts("stack")),
    "integrations update 1Cg8yK6FQpG43h8EDMqZ3E --event promotions --without-event changelog",
    "integrations update 1Cg8yK6FQpG43h8EDMqZ3E --environment production --all-stacks",
  ).action((id: string, _, self: Command) => update(context, id, self.optsWithGlobals()));
}

function kindOption(name: string, description: string): Option {
  return new Option(
    `${name} <kind>`,
    `${description}; may be repeated (${NOTIFICATION_KINDS.join(", ")})`,
  ).argParser(collectKind);
}

/** Not `choices`, which has a parser of its own, so that a second value would replace the first. */
function collectKind(value: string, values: NotificationKind[] = []): NotificationKind[] {
  const kind = NOTIFICATION_KINDS.find((each) => each === value);
  if (kind) return [...values, kind];
  throw new InvalidArgumentError(`Allowed choices are ${NOTIFICATION_KINDS.join(", ")}.`);
}

async function list(context: CliContext, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const project = await requireProject(context, session, options);
  const { data } = await session.client.get("/v1/projects/{project_id}/notification-integrations", {
    path: { project_id: project.id },
  });
  context.output.records<Integration>(
    data,
    [
      { title: "id", value: ({ id }) => id },
      { title: "type", value: ({ type }) => type },
      { title: "target", value: ({ url, slack }) => url ?? slack?.channel_name },
      { title: "confirmed", value: ({ confirmed }) => confirmed },
      { title: "disabled", value: (each) => each.disabled_reason ?? "no" },
      { title: "sends", value: ({ configuration }) => enabledOf(configuration).join(", ") },
    ],
    { ...options, id: ({ id }) => id },
  );
}

function enabledOf(configuration: Integration["configuration"]): string[] {
  return Object.entries(configuration).flatMap(([name, isOn]) => (isOn ? [name] : []));
}

async function show(context: CliContext, id: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const integration = await requireIntegration(context, session, options, id);
  printIntegration(context, integration, options);
}

function printIntegration(
  { output }: CliContext,
  integration: Integration,
  options: RecordOptions,
) {
  output.record(toRecord(integration, options), { ...options, id: (row) => row.id });
}

/** For people, the kinds that are sent instead of a field for each kind. */
function toRecord<Row extends Integration>(integration: Row, { json }: RecordOptions) {
  const { configuration, ...rest } = integration;
  return json ? integration : { ...rest, id: integration.id, sends: enabledOf(configuration) };
}

async function create(context: CliContext, url: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const project = await requireProject(context, session, options);
  const flags = (options.event ?? []).map((kind) => [kind, true] as const);
  const body = { type: "webhook", url, configuration: Object.fromEntries(flags) } as const;
  await createSecret(context, options, "secret", async () => {
    const created = await session.client.post(
      "/v1/projects/{project_id}/notification-integrations",
      {
        path: { project_id: project.id },
        body,
      },
    );
    return toRecord(created, options);
  });
}

async function update(context: CliContext, id: string, options: UpdateOptions): Promise<void> {
  const session = await openSession(context, options);
  const { project_id } = await requireIntegration(context, session, options, id);
  const { url, event = [], withoutEvent = [] } = options;
  const configuration = Object.fromEntries([
    ...event.map((kind) => [kind, true] as const),
    ...withoutEvent.map((kind) => [kind, false] as const),
  ]);
  const updated = await session.client.patch(INTEGRATION, {
    path: { project_id, integration_id: id },
    body: {
      configuration,
      ...(url !== undefined && { url }),
      ...(await readFilters(session, project_id, options)),
    },
  });
  printIntegration(context, updated, options);
}

/** The filters that the options change. The others stay. */
async function readFilters(
  session: Session,
  project_id: string,
  { environment: names, allEnvironments, stack: stacks, allStacks }: UpdateOptions,
): Promise<Pick<Schemas["UpdateIntegration"], "environment_ids" | "stack_ids">> {
  const environments = await Promise.all(
    (names ?? []).map((name) =>
      findRecord<Schemas["Environment"]>(session, KINDS.environment, { project_id }, name),
    ),
  );
  const stackIds = (stacks ?? []).map((name) => findStacks(session, environments, name));
  return {
    ...(names && { environment_ids: environments.map(({ id }) => id) }),
    ...(allEnvironments && { environment_ids: null }),
    ...(stacks && { stack_ids: (await Promise.all(stackIds)).flat() }),
    ...(allStacks && { stack_ids: null }),
  };
}

/** A name means the stacks of all of the environments that have it. */
async function findStacks(
  session: Session,
  environments: readonly Schemas["Environment"][],
  name: string,
): Promise<string[]> {
  const found = await Promise.all(
    environments.map(({ id }) =>
      findOptionalRecord<Schemas["Stack"]>(session, KINDS.stack, { environment_id: id }, name),
    ),
  );
  const ids = found.flatMap((stack) => (stack ? [stack.id] : []));
  if (ids.length > 0) return ids;
  if (environments.length === 0 && isId(name)) return [name];
  throw new CliError(
    `There is no stack "${name}" in the given environments. Name its environment with --environment.`,
  );
}

async function resume(context: CliContext, id: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { project_id } = await requireIntegration(context, session, options, id);
  const path = { project_id, integration_id: id };
  printIntegration(context, await session.client.post(`${INTEGRATION}/resume`, { path }), options);
}

async function rotateSecret(context: CliContext, id: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { project_id } = await requireIntegration(context, session, options, id);
  const question = `Replace the secret of the integration ${id}? The previous one ends after 24 hours.`;
  await requireConsent(context, question, options);
  await createSecret(context, options, "secret", async () => {
    const path = { project_id, integration_id: id };
    return toRecord(await session.client.post(`${INTEGRATION}/rotate-secret`, { path }), options);
  });
}

async function remove(context: CliContext, id: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { project_id } = await requireIntegration(context, session, options, id);
  await requireConsent(context, `Delete the integration ${id}?`, options);
  await session.client.delete(INTEGRATION, { path: { project_id, integration_id: id } });
  context.output.note(`Deleted the integration ${id}.`);
}
