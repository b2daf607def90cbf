import { vi } from "vitest";
import { ApiClient, type Parsed, type Service } from "./service.ts";

const POLLING = { interval: 500, timeout: 300_000 };

type TestRecords = Pick<
  TestProject,
  "stackIds" | "token" | "poolId" | "projectId" | "projectName" | "environmentId"
>;

/** An environment with two stacks and a variable, and a runner pool for it. */
export class TestProject {
  readonly stackIds: readonly string[];
  readonly token: string;
  readonly poolId: string;
  readonly projectId: string;
  readonly projectName: string;
  readonly environmentId: string;
  /** Of the API, for this project's requests. */
  readonly key: string;
  readonly #client: ApiClient;
  readonly #path: string;

  private constructor(
    client: ApiClient,
    path: string,
    { stackIds, token, poolId, projectId, projectName, environmentId }: TestRecords,
  ) {
    this.#client = client;
    this.#path = path;
    this.stackIds = stackIds;
    this.token = token;
    this.poolId = poolId;
    this.projectId = projectId;
    this.projectName = projectName;
    this.environmentId = environmentId;
    this.key = client.key;
  }

  /** Uses a new API key, because each key has its own rate limit. */
  static async make({ owner, organizationId, url }: Service): Promise<TestProject> {
    const organization = `/v1/orgs/${organizationId}`;
    const { key } = await owner.call("POST", `${organization}/api-keys`, { name: "test" });
    const client = new ApiClient(url, key);
    const post = (path: string, body: object) => client.call("POST", path, body);
    const project = await post("/v1/projects", { name: `storefront-${crypto.randomUUID()}` });
    await client.call("PUT", `/v1/projects/${project.id}/connection`, {
      provider: "aws",
      account_id: "123456789012",
      region: "eu-central-1",
    });
    const path = `/v1/environments/${project.default_environment_id}`;
    const first = await post(`${path}/stacks`, { name: "first" });
    const second = await post(`${path}/stacks`, { name: "second" });
    const variable = { name: "GREETING", storage_method: "secret", value: "good 'morning'" };
    await post(`${path}/variables`, variable);
    const pools = `${organization}/runner-pools`;
    const environment_ids = [project.default_environment_id];
    const pool = await post(pools, { name: project.id, environment_ids });
    const { token } = await post(`${pools}/${pool.id}/tokens`, { name: "test" });
    return new TestProject(client, path, {
      stackIds: [first.id, second.id],
      token,
      poolId: pool.id,
      projectId: project.id,
      projectName: project.name,
      environmentId: project.default_environment_id,
    });
  }

  /** Creates or replaces variables of the environment. */
  async setVariables(values: Record<string, string>): Promise<void> {
    const body = { mode: "merge", variables: toVariables(values) };
    await this.#client.call("PUT", `${this.#path}/variables`, body);
  }

  async addStack(name: string, componentId?: string): Promise<string> {
    const body = { name, component_id: componentId };
    return (await this.#client.call("POST", `${this.#path}/stacks`, body)).id;
  }

  /** Creates a component with variables. */
  async addComponent(name: string, values: Record<string, string>): Promise<string> {
    const { id } = await this.#client.call("POST", `${this.#path}/components`, {
      name,
      kind: "service",
    });
    const body = { mode: "merge", variables: toVariables(values) };
    await this.#client.call("PUT", `/v1/components/${id}/variables`, body);
    return id;
  }

  deploy(body: object = {}): Promise<Parsed> {
    const deployment = { stack_ids: this.stackIds, ...body };
    return this.#client.call("POST", `${this.#path}/deployments`, deployment);
  }

  cancel(id: string): Promise<Parsed> {
    return this.#client.call("PATCH", `/v1/deployments/${id}/cancel`);
  }

  read(id: string): Promise<Parsed> {
    return this.#client.call("GET", `/v1/deployments/${id}`);
  }

  /** Waits until a deployment ends; returns its status and those of its stacks. */
  async waitForEnd(id: string): Promise<{ status: string; stacks: string[] }> {
    const isActive = (status: string) => /^(queued|in_progress|canceling)$/.test(status);
    const ended = async () => {
      const deployment = await this.read(id);
      return !isActive(deployment.status) && deployment;
    };
    const { status, data } = await vi.waitUntil(ended, POLLING);
    return { status, stacks: data.stacks.map(toText) };
  }
}

function toVariables(values: Record<string, string>) {
  return Object.entries(values).map(([name, value]) => ({ name, storage_method: "secret", value }));
}

function toText({ status, status_reason }: Parsed): string {
  return status_reason === undefined ? status : `${status}: ${status_reason}`;
}
