import { setTimeout as sleep } from "node:timers/promises";
import { Caller, type Parsed, type Service } from "./service.ts";

const POLL_EVERY_MS = 250;
const ENDS_WITHIN_MS = 90_000;

/** An environment with two stacks and a variable, and a runner pool for it. */
export class TestProject {
  readonly stackIds: readonly string[];
  readonly token: string;
  readonly #caller: Caller;
  readonly #path: string;

  private constructor(caller: Caller, path: string, stackIds: readonly string[], token: string) {
    this.#caller = caller;
    this.#path = path;
    this.stackIds = stackIds;
    this.token = token;
  }

  /** With an API key of its own, because each has a rate limit of its own. */
  static async make({ owner, organizationId, url }: Service): Promise<TestProject> {
    const organization = `/v1/orgs/${organizationId}`;
    const { key } = await owner.call("POST", `${organization}/api-keys`, { name: "test" });
    const caller = new Caller(url, key);
    const post = (path: string, body: object) => caller.call("POST", path, body);
    const project = await post("/v1/projects", { name: "storefront" });
    await caller.call("PUT", `/v1/projects/${project.id}/connection`, {
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
    return new TestProject(caller, path, [first.id, second.id], token);
  }

  deploy(body: object = {}): Promise<Parsed> {
    const deployment = { stack_ids: this.stackIds, ...body };
    return this.#caller.call("POST", `${this.#path}/deployments`, deployment);
  }

  cancel(id: string): Promise<Parsed> {
    return this.#caller.call("PATCH", `/v1/deployments/${id}/cancel`);
  }

  read(id: string): Promise<Parsed> {
    return this.#caller.call("GET", `/v1/deployments/${id}`);
  }

  /** How a deployment ended, and how each of its stacks did, once it has. */
  async verdict(id: string): Promise<{ status: string; stacks: string[] }> {
    const deadline = performance.now() + ENDS_WITHIN_MS;
    while (performance.now() < deadline) {
      const { status, data } = await this.read(id);
      if (!/^(queued|in_progress|canceling)$/.test(status)) {
        return { status, stacks: data.stacks.map(toText) };
      }
      await sleep(POLL_EVERY_MS);
    }
    throw new Error(`Deployment ${id} did not end.`);
  }
}

function toText({ status, status_reason }: Parsed): string {
  return status_reason === undefined ? status : `${status}: ${status_reason}`;
}
