import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { KINDS } from "../named-kinds.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import { addList, addRemove, addShow, find, printRecord, type Resource } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";

type Project = Schemas["Project"];

const PROJECTS: Resource<Project> = {
  kind: KINDS.project,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: ({ id }) => id },
    { title: "connection", value: (project) => project.connection_status },
    { title: "description", value: ({ description }) => description },
  ],
  addOwnerOptions: (command) => command,
  ownerPath: async () => ({}),
};

interface CreateOptions extends RecordOptions {
  description?: string;
  repoId?: string;
  profile?: string;
}

interface ConnectOptions extends RecordOptions {
  provider: string;
  accountId?: string;
  region?: string;
  roleArn?: string;
  context?: string;
  namespace?: string;
  host?: string;
  user?: string;
  place?: string;
  profile?: string;
}

export function addProjectCommands(program: Command, context: CliContext): void {
  const group = program.command("projects").description("projects and their connections");
  addList(group, context, PROJECTS);
  addShow(group, context, PROJECTS);
  addExamples(
    addRecordOptions(group.command("create"))
      .description("create a project with its default environment")
      .argument("<name>")
      .option("--description <text>")
      .option("--repo-id <id>", "the repository of its code"),
    "projects create storefront --description 'The shop'",
  ).action((name: string, _, self: Command) => create(context, name, self.optsWithGlobals()));
  addRemove(group, context, PROJECTS, " with its environments, variables and deployments");
  addExamples(
    addRecordOptions(group.command("connect"))
      .description("say where a project is deployed to; runners have the credentials")
      .argument("<name>", "name or ID")
      .option("--provider <provider>", "aws, cloudflare, kubernetes, ssh or other", "aws")
      .option("--account-id <id>", "of aws (12 digits) or cloudflare")
      .option("--region <region>", "of aws, such as eu-central-1")
      .option("--role-arn <arn>", "of aws: the role for the runner to assume")
      .option("--context <name>", "of kubernetes")
      .option("--namespace <name>", "of kubernetes")
      .option("--host <host>", "of ssh")
      .option("--user <name>", "of ssh")
      .option("--place <name>", "of other: what people call it"),
    "projects connect storefront --account-id 123456789012 --region eu-central-1",
  ).action((name: string, _, self: Command) => connect(context, name, self.optsWithGlobals()));
  addConsentOption(group.command("disconnect"))
    .description("disconnect a project: it deploys no more until it is connected again")
    .argument("<name>", "name or ID")
    .action((name: string, _, self: Command) => disconnect(context, name, self.optsWithGlobals()));
}

async function create(context: CliContext, name: string, options: CreateOptions): Promise<void> {
  const session = await openSession(context, options);
  const { description, repoId } = options;
  const body = {
    name,
    ...(description !== undefined && { description }),
    ...(repoId !== undefined && { repo_id: repoId }),
  };
  printRecord(context, PROJECTS, await session.client.post("/v1/projects", { body }), options);
}

async function connect(context: CliContext, name: string, options: ConnectOptions): Promise<void> {
  const session = await openSession(context, options);
  const { record } = await find(context, session, PROJECTS, options, name);
  const { provider, accountId, region, roleArn, context: cluster, namespace } = options;
  const { host, user, place } = options;
  const project = await session.client.put("/v1/projects/{project_id}/connection", {
    path: { project_id: record.id },
    // The server says which fields a provider needs, and which it does not know.
    body: {
      provider,
      account_id: accountId,
      region,
      role_arn: roleArn,
      context: cluster,
      namespace,
      host,
      user,
      name: place,
    } as Schemas["ConnectProject"],
  });
  printRecord(context, PROJECTS, project, options);
}

async function disconnect(
  context: CliContext,
  name: string,
  options: { yes?: boolean; profile?: string },
): Promise<void> {
  const session = await openSession(context, options);
  const { record } = await find(context, session, PROJECTS, options, name);
  await requireConsent(context, `Disconnect the project ${record.name}?`, options);
  await session.client.patch("/v1/projects/{project_id}/disconnect", {
    path: { project_id: record.id },
  });
  context.output.note(`Disconnected the project ${record.name}.`);
}
