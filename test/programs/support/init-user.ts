import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { inOrder } from "../../../packages/cli/src/in-order.ts";
import { CliUser } from "./cli.ts";
import { type ApiClient, newClient, type Parsed, type Service } from "./service.ts";

/** The command that `longshore init` prints for a script. */
export const RUNNER = "longshore runner --exec ./deploy.sh\n";

export const newName = () => `shop-${crypto.randomUUID().slice(0, 8)}`;

const namesOf = (list: Parsed) => list.data.map(({ name }: Parsed) => name).toSorted();

/** A user of `longshore init`, with a folder and a key of their own. */
export class InitUser extends CliUser {
  readonly client: ApiClient;
  /** The path of the organization in the API. */
  readonly organization: string;

  private constructor(client: ApiClient, url: URL, organizationId: string) {
    super({ LONGSHORE_URL: url.origin, LONGSHORE_API_KEY: client.key });
    this.client = client;
    this.organization = `/v1/orgs/${organizationId}`;
  }

  static async create(service: Service, url = service.url): Promise<InitUser> {
    const user = new InitUser(await newClient(service), url, service.organizationId);
    onTestFinished(() => user.remove());
    return user;
  }

  inFolder(name: string): string {
    return join(this.folder, name);
  }

  readJson(name: string): Parsed {
    return JSON.parse(readFileSync(this.inFolder(name), "utf8"));
  }

  /** What exists of a project, by the API. */
  async readSetUp(name: string) {
    const projects = await this.client.call("GET", `/v1/projects?name=${name}`);
    const [project] = projects.data;
    const environments = project
      ? (await this.client.call("GET", `/v1/projects/${project.id}/environments`)).data
      : [];
    const stacks: Record<string, string[]> = {};
    for (const { name: environment, id } of environments) {
      const list = await this.client.call("GET", `/v1/environments/${id}/stacks`);
      stacks[environment] = namesOf(list);
    }
    const path = `${this.organization}/runner-pools`;
    const pools = await this.client.call("GET", `${path}?name=${name}`);
    const [pool] = pools.data;
    const tokens = pool ? await this.client.call("GET", `${path}/${pool.id}/tokens`) : { data: [] };
    const covered = environments
      .filter(({ id }: Parsed) => pool?.environment_ids.includes(id))
      .map((each: Parsed) => each.name);
    return {
      projects: projects.data.length,
      order: inOrder<Parsed & { created_at: string }>(environments).map((each) => each["name"]),
      stacks,
      pools: pools.data.length,
      covered: covered.toSorted(),
      tokens: namesOf(tokens),
    };
  }

  get storedToken(): string | undefined {
    const { [this.folder]: stored } = this.readJson("config/runners.json");
    return stored?.token;
  }

  /** Whether the service accepts the stored token. */
  async acceptsStoredToken(): Promise<boolean> {
    const headers = { "x-api-key": this.storedToken ?? "" };
    const url = new URL("/v1/runner/attempts", this.client.url);
    return (await fetch(url, { headers })).ok;
  }
}
