import { env } from "cloudflare:workers";
import { createApp } from "../../src/app.ts";
import { newAddress } from "../support/client.ts";
import { CONNECTION, newWorld, type World } from "../support/world.ts";

/** Admits every request, because walks do not test rate limits. */
export const permissive = {
  getByName: () => ({
    consume: async () => ({
      admitted: true,
      by: "key",
      remaining: 1_000,
      waitMs: 0,
      version: 0,
    }),
    isKnown: async () => true,
    raiseVersion: async () => undefined,
  }),
} as unknown as typeof env.RATE_LIMITER;

const execution = {
  waitUntil: () => undefined,
  passThroughOnException: () => undefined,
} as unknown as ExecutionContext;

export interface Reply {
  status: number;
  directive: string | null;
  text: string;
  body: ReturnType<typeof JSON.parse>;
}

/** The message of the innermost cause. */
function causeIn({ message, cause }: Record<string, unknown>): string {
  return cause ? causeIn(cause as Record<string, unknown>) : String(message);
}

/** A Worker whose clock the test sets. */
export class VirtualTimeWorker {
  now = Date.now();
  /** The newest logged error. */
  unexpectedError = "";
  readonly #app = createApp({
    clock: { now: () => this.now },
    log: (level, _, fields) => {
      if (level === "error") this.unexpectedError = causeIn(fields);
    },
  });
  readonly #bindings: Env;

  constructor(database: D1Database = env.DB) {
    this.#bindings = { ...env, DB: database, RATE_LIMITER: permissive };
  }

  async call(
    key: string,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const request = new Request(`https://longshore.test${path}`, {
      method,
      headers: {
        "x-api-key": key,
        "content-type": "application/json",
        "cf-connecting-ip": newAddress(),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const response = await this.#app.fetch(request, this.#bindings, execution);
    const text = await response.text();
    const directive = response.headers.get("deployment-desired");
    return { status: response.status, directive, text, body: text ? JSON.parse(text) : undefined };
  }

  sweep(): Promise<void> {
    return this.#app.sweep(this.#bindings, execution);
  }
}

/** An organization with a connected project of two environments, and runners in two pools. */
export interface WalkFixture {
  key: string;
  worldId: string;
  projectId: string;
  environments: string[];
  /** Environment names by ID. */
  names: Map<string, string>;
  /** Stack IDs by the ID of their environment, and by name. */
  stacks: Map<string, Map<string, string>>;
  runners: string[];
}

export async function newWalkFixture(worker: VirtualTimeWorker): Promise<WalkFixture> {
  const world: World = await newWorld();
  const key = String(world.client.key);
  const make = async (method: string, path: string, body: object) =>
    (await worker.call(key, method, path, body)).body;
  const project = await make("POST", "/v1/projects", { name: "walk" });
  const path = `/v1/projects/${project.id}`;
  await make("PUT", `${path}/connection`, CONNECTION);
  const staging = await make("POST", `${path}/environments`, { name: "staging" });
  const environments = [project.default_environment_id, staging.id];
  const names = new Map<string, string>();
  const stacks = new Map<string, Map<string, string>>();
  for (const id of environments) {
    const { body } = await worker.call(key, "GET", `/v1/environments/${id}`);
    names.set(id, body.name);
    const own = new Map<string, string>();
    for (const name of ["a", "b"]) {
      own.set(name, (await make("POST", `/v1/environments/${id}/stacks`, { name })).id);
    }
    stacks.set(id, own);
  }
  const runners: string[] = [];
  for (const [name, environment_ids, max_run_seconds] of [
    ["both", environments, 240],
    ["one", environments.slice(1), 90],
  ]) {
    const pools = `/v1/orgs/${world.id}/runner-pools`;
    const pool = await make("POST", pools, { name, environment_ids, max_run_seconds });
    const tokens = `${pools}/${pool.id}/tokens`;
    for (const each of ["x", "y"]) runners.push((await make("POST", tokens, { name: each })).token);
  }
  return { key, worldId: world.id, projectId: project.id, environments, names, stacks, runners };
}
