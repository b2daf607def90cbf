/** `hey-api-tour.ts URL API_KEY`: uses the service through the client of @hey-api/openapi-ts. */
import { createClient } from "./hey-api/client/index.ts";
import type { ConnectionStatus, EventPayload, Error as ServiceError } from "./hey-api/index.ts";
import { createEnvironment, createProject, listEnvironments } from "./hey-api/index.ts";

const [, , baseUrl = "", apiKey = ""] = process.argv;
const client = createClient({ baseUrl, auth: apiKey });

const created = await createProject({ client, body: { name: "storefront" } });
if (!created.data) throw new Error(created.error.message);
const project = created.data;
const path = { project_id: project.id };

const added = await createEnvironment({ client, path, body: { name: "staging" } });
if (!added.data) throw new Error(added.error.message);
const taken = await createEnvironment({ client, path, body: { name: added.data.name } });
const blank = await createProject({ client, body: { name: " " } });

process.stdout.write(
  JSON.stringify({
    status: project.connection_status satisfies ConnectionStatus,
    environments: await listNames(),
    conflict: taken.error?.code,
    issues: issuesOf(blank.error),
    event: describe({
      id: project.id,
      type: "deployments.failed",
      timestamp: project.created_at,
      data: {
        deployment_id: project.id,
        status: "failed",
        failure_reason: "stack_failed",
        project: { id: project.id, name: project.name },
        environment: { id: added.data.id, name: added.data.name },
        stacks: [],
        trigger: "api",
      },
    }),
  }),
);

/** One record on each page. */
async function listNames(): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const query = { limit: 1, sort_by: "created_at" as const, ...(after && { after }) };
    const { data, error } = await listEnvironments({ client, path, query });
    if (!data) throw new Error(error.message);
    names.push(...data.data.map(({ name }) => name));
    after = data.next_page;
  } while (after !== undefined);
  return names;
}

function issuesOf(error: ServiceError | undefined): string[] {
  const cause = error?.cause;
  return cause && "issues" in cause ? cause.issues.map(({ path: field }) => field) : [];
}

function describe(event: EventPayload): string {
  switch (event.type) {
    case "deployments.failed":
      return `${event.data.project.name} failed: ${event.data.failure_reason}`;
    case "services.in_alarm":
      return `${event.data.stack.name} is in alarm`;
    default:
      return event.type;
  }
}
