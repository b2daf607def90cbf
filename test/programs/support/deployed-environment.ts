import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  createClient,
  type Result,
  type Schemas,
} from "../../../packages/client/src/index.ts";

const CLAIM_EVERY_MS = 100;
const CLAIMED_WITHIN_MS = 120_000;

type Claim = NonNullable<Result<"/v1/runner/claims", "post">>;
type Outcome = "succeeded" | "failed" | "canceled";

/** What it needs of a service. */
interface ServiceAccess {
  url: URL;
  organizationId: string;
  /** With the key of an owner. */
  owner: { key: string };
}

/** An environment with the stacks `web` and `worker`, an API key, and a runner that tests drive by hand. */
export class DeployedEnvironment {
  readonly id: string;
  readonly projectId: string;
  readonly apiKey: string;
  readonly client: Client;
  readonly #runner: Client;

  private constructor(
    { id, projectId, apiKey }: Pick<DeployedEnvironment, "id" | "projectId" | "apiKey">,
    client: Client,
    runner: Client,
  ) {
    this.id = id;
    this.projectId = projectId;
    this.apiKey = apiKey;
    this.client = client;
    this.#runner = runner;
  }

  /** Uses a new API key, because each key has its own rate limit. */
  static async make(
    service: ServiceAccess,
    configuration: object = {},
  ): Promise<DeployedEnvironment> {
    const url = service.url.href;
    const owner = createClient({ url, apiKey: service.owner.key });
    const org = { org_id: service.organizationId };
    const { key } = await owner.post("/v1/orgs/{org_id}/api-keys", {
      path: org,
      body: { name: "test" },
    });
    const client = createClient({ url, apiKey: key });
    const project = await client.post("/v1/projects", {
      body: { name: `shop-${crypto.randomUUID().slice(0, 8)}` },
    });
    await client.put("/v1/projects/{project_id}/connection", {
      path: { project_id: project.id },
      body: { provider: "aws", account_id: "123456789012", region: "eu-central-1" },
    });
    const environment = await client.post("/v1/projects/{project_id}/environments", {
      path: { project_id: project.id },
      body: { name: "staging", configuration: { ...configuration } },
    });
    const path = { environment_id: environment.id };
    // For promotions.
    await client.post("/v1/environments/{environment_id}/stacks", {
      path: { environment_id: project.default_environment_id },
      body: { name: "web" },
    });
    for (const name of ["web", "worker"]) {
      await client.post("/v1/environments/{environment_id}/stacks", { path, body: { name } });
    }
    const runner = await makeRunner(client, url, org, environment.id);
    const ids = { id: environment.id, projectId: project.id, apiKey: key };
    return new DeployedEnvironment(ids, client, runner);
  }

  /** Starts the next deployment. */
  async start(): Promise<StartedDeployment> {
    const request_id = crypto.randomUUID();
    const deadline = performance.now() + CLAIMED_WITHIN_MS;
    while (performance.now() < deadline) {
      const claim = await this.#runner.post("/v1/runner/claims", { body: { request_id } });
      if (claim) return StartedDeployment.start(this.#runner, claim);
      await sleep(CLAIM_EVERY_MS);
    }
    throw new Error("There is nothing to claim.");
  }

  /** Runs the next deployment to its end. */
  async run(outcome: Outcome, text = "Creating the bucket\n"): Promise<void> {
    const started = await this.start();
    await started.print(0, text);
    await started.complete(outcome);
  }

  deploy(body: Schemas["CreateDeployment"] = {}): Promise<Schemas["Deployment"]> {
    return this.client.post("/v1/environments/{environment_id}/deployments", {
      path: { environment_id: this.id },
      body,
    });
  }

  read(id: string): Promise<Schemas["Deployment"]> {
    return this.client.get("/v1/deployments/{deployment_id}", { path: { deployment_id: id } });
  }

  /** The newest first. */
  async list(): Promise<Schemas["Deployment"][]> {
    const { data } = await this.client.get("/v1/environments/{environment_id}/deployments", {
      path: { environment_id: this.id },
    });
    return data;
  }
}

async function makeRunner(
  client: Client,
  url: string,
  path: { org_id: string },
  environmentId: string,
): Promise<Client> {
  const pool = await client.post("/v1/orgs/{org_id}/runner-pools", {
    path,
    body: { name: environmentId, environment_ids: [environmentId] },
  });
  const { token } = await client.post("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", {
    path: { ...path, pool_id: pool.id },
    body: { name: "test" },
  });
  return createClient({ url, apiKey: token });
}

/** What its runner does, step by step. */
export class StartedDeployment {
  readonly id: string;
  readonly stackIds: readonly string[];
  readonly #runner: Client;
  readonly #attempt: { path: { attempt_id: string }; headers: { "lease-token": string } };
  #offset = 0;
  #seq = 0;
  readonly #finished = new Set<number>();

  private constructor(runner: Client, claim: Claim) {
    this.#runner = runner;
    this.id = claim.deployment.id;
    this.stackIds = claim.deployment.stack_ids;
    this.#attempt = {
      path: { attempt_id: claim.attempt_id },
      headers: { "lease-token": claim.lease_token },
    };
  }

  static async start(runner: Client, claim: Claim): Promise<StartedDeployment> {
    const started = new StartedDeployment(runner, claim);
    await runner.post("/v1/runner/attempts/{attempt_id}/start", started.#attempt);
    return started;
  }

  /** As a runner does before it executes the stacks. The audit log records it. */
  async readVariables(): Promise<void> {
    await this.#runner.get("/v1/runner/attempts/{attempt_id}/variables", this.#attempt);
  }

  async print(stack: number, text: string): Promise<void> {
    const query = { offset: this.#offset, stack_id: String(this.stackIds[stack]) };
    const written = await this.#runner.post("/v1/runner/attempts/{attempt_id}/logs", {
      ...this.#attempt,
      query,
      body: text,
    });
    this.#offset = written.next_offset;
  }

  async report(
    stack: number,
    status: "in_progress" | "skipped" | Outcome,
    status_reason?: string,
    outputs?: Record<string, string>,
  ): Promise<void> {
    this.#seq += 1;
    if (status !== "in_progress") this.#finished.add(stack);
    await this.#runner.put("/v1/runner/attempts/{attempt_id}/stacks/{stack_id}", {
      ...this.#attempt,
      path: { ...this.#attempt.path, stack_id: String(this.stackIds[stack]) },
      body: {
        seq: this.#seq,
        status,
        ...(status_reason !== undefined && { status_reason }),
        ...(outputs && {
          outputs: Object.entries(outputs).map(([name, value]) => ({ name, value })),
        }),
      },
    });
  }

  /** Reports the same outcome of each stack that has none. */
  async complete(outcome: Outcome): Promise<void> {
    for (const stack of this.stackIds.keys()) {
      if (!this.#finished.has(stack)) await this.report(stack, outcome);
    }
    await this.end({ outcome });
  }

  async end(body: Schemas["AttemptCompletion"]): Promise<void> {
    await this.#runner.post("/v1/runner/attempts/{attempt_id}/complete", {
      ...this.#attempt,
      body,
    });
  }
}
