/** `openapi-fetch-tour.ts URL API_KEY`: uses the service through the types of openapi-typescript. */
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi-typescript.ts";

type Schemas = components["schemas"];

const [, , baseUrl = "", apiKey = ""] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": apiKey } });

const created = await client.POST("/v1/projects", { body: { name: "storefront" } });
if (!created.data) throw new Error(created.error.message);
const project = created.data;
const path = { project_id: project.id };

const added = await client.POST("/v1/projects/{project_id}/environments", {
  params: { path },
  body: { name: "staging" },
});
if (!added.data) throw new Error(added.error.message);

const taken = await client.POST("/v1/projects/{project_id}/environments", {
  params: { path },
  body: { name: added.data.name },
});

const blank = await client.POST("/v1/projects", { body: { name: " " } });

process.stdout.write(
  JSON.stringify({
    status: project.connection_status satisfies Schemas["ConnectionStatus"],
    environments: await listEnvironments(),
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
async function listEnvironments(): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const { data, error } = await client.GET("/v1/projects/{project_id}/environments", {
      params: { path, query: { limit: 1, sort_by: "created_at", ...(after && { after }) } },
    });
    if (!data) throw new Error(error.message);
    names.push(...data.data.map(({ name }) => name));
    after = data.next_page;
  } while (after !== undefined);
  return names;
}

function issuesOf(error: Schemas["Error"] | undefined): string[] {
  const cause = error?.cause;
  return cause && "issues" in cause ? cause.issues.map(({ path: field }) => field) : [];
}

function describe(event: Schemas["EventPayload"]): string {
  switch (event.type) {
    case "deployments.failed":
      return `${event.data.project.name} failed: ${event.data.failure_reason}`;
    case "services.in_alarm":
      return `${event.data.stack.name} is in alarm`;
    default:
      return event.type;
  }
}
