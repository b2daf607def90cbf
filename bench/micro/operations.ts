import { type Client, createClient, type Schemas } from "../../packages/client/src/index.ts";
import { bootstrap } from "../../packages/server/src/first-key.ts";
import { type CallRequest, type Recording, withAnswersOf } from "./recording.ts";
import type { Operation } from "./worker.ts";

/** Of each list. */
const ROWS = 20;
const LOG_BYTES = 4 * 1024;

export const OPERATION_NAMES = [
  "read a project",
  "read a deployment",
  "read an environment",
  "list projects",
  "list deployments",
  "change a project",
  "create a deployment",
  "claim a deployment",
  "send a heartbeat",
  "append to a log",
] as const;

export type OperationName = (typeof OPERATION_NAMES)[number];
export type Operations = Record<OperationName, Operation>;

interface Deployable {
  projectId: string;
  environmentId: string;
}

/** Makes data through the API, and records one call of each operation with a known key. */
export async function recordOperations(url: URL, bootstrapToken: string): Promise<Operations> {
  const owner = createClient({ url: url.href, apiKey: await firstKey(url, bootstrapToken) });
  const { organization } = await owner.get("/v1/whoami");
  const { key } = await owner.post("/v1/orgs/{org_id}/api-keys", {
    path: { org_id: organization.id },
    body: { name: "bench" },
  });
  const environments: readonly [Deployable, Deployable] = [
    await makeEnvironment(owner, "storefront"),
    await makeEnvironment(owner, "billing"),
  ];
  for (let made = environments.length; made < ROWS; made += 1) {
    await owner.post("/v1/projects", {
      body: { name: `service-${made}`, description: "A service" },
    });
  }
  const token = await makeRunnerToken(owner, organization.id, environments);
  const recorder = new Recorder(url);
  return {
    ...(await recordOfApiKey(recorder, owner, key, environments)),
    ...(await recordOfRunner(recorder, owner, token, environments)),
  };
}

async function firstKey({ origin }: URL, token: string): Promise<string> {
  const key = await bootstrap(origin, token);
  if (key === undefined) throw new Error("The database is not empty.");
  return key;
}

async function makeEnvironment(client: Client, name: string): Promise<Deployable> {
  const project = await client.post("/v1/projects", {
    body: { name, description: "The shop, and the workers behind it" },
  });
  await client.put("/v1/projects/{project_id}/connection", {
    path: { project_id: project.id },
    body: { provider: "aws", account_id: "123456789012", region: "eu-central-1" },
  });
  const environment = await client.post("/v1/projects/{project_id}/environments", {
    path: { project_id: project.id },
    body: {
      name: "staging",
      configuration: { web: { image: "shop:41", replicas: 2 }, features: ["search", "cart"] },
    },
  });
  for (const stack of ["web", "worker"]) {
    await client.post("/v1/environments/{environment_id}/stacks", {
      path: { environment_id: environment.id },
      body: { name: stack },
    });
  }
  return { projectId: project.id, environmentId: environment.id };
}

async function makeRunnerToken(
  client: Client,
  organizationId: string,
  environments: readonly Deployable[],
): Promise<string> {
  const org = { org_id: organizationId };
  const pool = await client.post("/v1/orgs/{org_id}/runner-pools", {
    path: org,
    body: { name: "eu", environment_ids: environments.map(({ environmentId }) => environmentId) },
  });
  const { token } = await client.post("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", {
    path: { ...org, pool_id: pool.id },
    body: { name: "bench" },
  });
  return token;
}

function deploy(client: Client, { environmentId }: Deployable): Promise<Schemas["Deployment"]> {
  return client.post("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environmentId },
    body: DEPLOYMENT,
  });
}

const DEPLOYMENT: Schemas["CreateDeployment"] = {
  patch: [{ op: "replace", path: "/web/image", value: "shop:42" }],
};

async function recordOfApiKey(
  recorder: Recorder,
  owner: Client,
  key: string,
  [{ projectId, environmentId }]: readonly [Deployable, Deployable],
) {
  const deployments = [];
  for (let made = 0; made < ROWS; made += 1) {
    deployments.push(await deploy(owner, { projectId, environmentId }));
  }
  const project = `/v1/projects/${projectId}`;
  const environment = `/v1/environments/${environmentId}`;
  const record = (method: string, path: string, body?: object) =>
    recorder.record(key, method, path, body);
  await record("GET", project);
  return {
    "read a project": await record("GET", project),
    "read a deployment": await record("GET", `/v1/deployments/${deployments.at(-1)?.id}`),
    "read an environment": await record("GET", environment),
    "list projects": await record("GET", `/v1/projects?limit=${ROWS}`),
    "list deployments": await record("GET", `${environment}/deployments?limit=${ROWS}`),
    "change a project": await record("PATCH", project, { description: "The shop and its API" }),
    "create a deployment": await record("POST", `${environment}/deployments`, DEPLOYMENT),
  };
}

/** The first claim takes a deployment of the first environment, and the second one of the second. */
async function recordOfRunner(
  recorder: Recorder,
  owner: Client,
  token: string,
  [, second]: readonly [Deployable, Deployable],
) {
  const record = (path: string, body?: object | string, headers?: Record<string, string>) =>
    recorder.record(token, "POST", path, body, headers);
  const claimNext = () => record("/v1/runner/claims", { request_id: crypto.randomUUID() });
  const { recording } = await claimNext();
  const claim = JSON.parse(recording.body) as Schemas["Claim"];
  const attempt = `/v1/runner/attempts/${claim.attempt_id}`;
  const lease = { "lease-token": claim.lease_token };
  await record(`${attempt}/start`, undefined, lease);
  await deploy(owner, second);
  const log = `${attempt}/logs?stack_id=${claim.deployment.stack_ids[0]}`;
  const text = "Creating the bucket, which takes a while.\n".repeat(LOG_BYTES).slice(0, LOG_BYTES);
  await record(`${log}&offset=0`, text, lease);
  return {
    "claim a deployment": await claimNext(),
    "send a heartbeat": await record(`${attempt}/heartbeat`, undefined, lease),
    "append to a log": await record(`${log}&offset=${LOG_BYTES}`, text, lease),
  };
}

/** Sends requests to the instrumented service. */
class Recorder {
  readonly #url: URL;
  #earlier: Recording | undefined;

  constructor(url: URL) {
    this.#url = new URL("/bench/record", url);
  }

  /** The operation also has the answers to all earlier calls, which an isolate needs that starts. */
  async record(...call: Parameters<typeof toCallRequest>): Promise<Operation> {
    const request = toCallRequest(...call);
    const response = await fetch(this.#url, { method: "POST", body: JSON.stringify(request) });
    const text = await response.text();
    const what = `${request.method} ${request.path}`;
    if (!response.ok) throw new Error(`${what}: ${text}`);
    const recorded = JSON.parse(text) as Recording;
    if (recorded.status >= 300) throw new Error(`${what}: ${recorded.status} ${recorded.body}`);
    const recording = this.#earlier ? withAnswersOf(this.#earlier, recorded) : recorded;
    this.#earlier = recording;
    return { request, recording };
  }
}

function toCallRequest(
  key: string,
  method: string,
  path: string,
  body?: object | string,
  headers: Record<string, string> = {},
): CallRequest {
  const isText = typeof body === "string";
  return {
    method,
    path,
    headers: {
      accept: "application/json",
      "user-agent": "longshore-bench",
      "cf-connecting-ip": "192.0.2.1",
      "x-api-key": key,
      ...(body !== undefined && { "content-type": isText ? "text/plain" : "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
  };
}
