import { type Command, InvalidArgumentError, Option } from "commander";
import {
  NOTIFICATION_KINDS,
  type NotificationKind,
} from "../../../../src/features/housekeeping/outbox/events.ts";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { requireIntegration } from "../integrations.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import { createSecret } from "../secret-file.ts";
import { type CliContext, openSession } from "../session.ts";
import { addProjectOption, type ProjectOptions, requireProject } from "../target.ts";

type Integration = Schemas["Integration"];

interface Options extends RecordOptions, ProjectOptions {
  event?: NotificationKind[];
  output?: string;
  yes?: boolean;
  profile?: string;
}

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
  const eventOption = new Option(
    "--event <kind>",
    `that is sent; may be repeated (${NOTIFICATION_KINDS.join(", ")})`,
  ).argParser(collectKind);
  addExamples(
    addProjectOption(addRecordOptions(group.command("create")))
      .description("create a webhook; its secret is shown only once")
      .argument("<url>")
      .addOption(eventOption)
      .option("--output <file>", "write the secret to this file, with the mode 0600"),
    "integrations create https://ci.example.com/hooks --event deployments_failed",
  ).action((url: string, _, self: Command) => create(context, url, self.optsWithGlobals()));
  addConsentOption(addProjectOption(group.command("rm")))
    .description("delete one integration")
    .argument("<id>")
    .action((id: string, _, self: Command) => remove(context, id, self.optsWithGlobals()));
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
  context.output.record(integration, { ...options, id: (row) => row.id });
}

async function create(context: CliContext, url: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const project = await requireProject(context, session, options);
  const flags = (options.event ?? []).map((kind) => [kind, true] as const);
  const body = { type: "webhook", url, configuration: Object.fromEntries(flags) } as const;
  await createSecret(context, options, "secret", () =>
    session.client.post("/v1/projects/{project_id}/notification-integrations", {
      path: { project_id: project.id },
      body,
    }),
  );
}

async function remove(context: CliContext, id: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { project_id } = await requireIntegration(context, session, options, id);
  await requireConsent(context, `Delete the integration ${id}?`, options);
  await session.client.delete(
    "/v1/projects/{project_id}/notification-integrations/{integration_id}",
    { path: { project_id, integration_id: id } },
  );
  context.output.note(`Deleted the integration ${id}.`);
}
