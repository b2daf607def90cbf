import { env } from "cloudflare:workers";
import { onTestFinished, vi } from "vitest";
import type { LogStub } from "../../src/features/deployments/logs/messages.ts";
import { sha256Hex } from "../../src/lib/digest.ts";
import type { Client, Reply } from "./client.ts";
import { Attempt } from "./runner.ts";
import {
  connect,
  newDeployment,
  newInside,
  newPool,
  newProject,
  newWorld,
  type World,
} from "./world.ts";

const encoder = new TextEncoder();

export interface LoggedDeployment {
  world: World;
  runner: Client;
  projectId: string;
  environmentId: string;
  /** Two. */
  stackIds: [string, string];
  deploymentId: string;
}

/** A queued deployment of two stacks, in an organization of its own. */
export async function newLoggedDeployment(via?: Parameters<Client["via"]>[0]) {
  const world = await newWorld();
  if (via) world.client = world.client.via(via);
  const project = await newProject(world.client);
  const environmentId = String(project.default_environment_id);
  const first = String((await newInside(world.client, environmentId))["stack_id"]);
  const { body: second } = await world.client.post(`/v1/environments/${environmentId}/stacks`, {
    name: "second",
  });
  await connect(world.client, project.id);
  const pool = await newPool(world, [environmentId]);
  const { id } = await newDeployment(world.client, environmentId);
  return {
    world,
    runner: via ? pool.runner.via(via) : pool.runner,
    projectId: String(project.id),
    environmentId,
    stackIds: [first, String(second.id)],
    deploymentId: String(id),
  } satisfies LoggedDeployment;
}

export function start({ runner }: LoggedDeployment): Promise<Attempt> {
  return Attempt.started(runner);
}

/** Appends as the runner of the attempt. */
export function append(
  { runner }: Pick<LoggedDeployment, "runner">,
  { claimed }: Attempt,
  {
    stackId,
    offset,
    body,
  }: { stackId: string; offset: number | string; body: string | Uint8Array },
  headers: Record<string, string> = {},
): Promise<Reply> {
  const path = `/v1/runner/attempts/${claimed.attempt_id}/logs?offset=${offset}&stack_id=${stackId}`;
  return runner.request("POST", path, body, {
    "lease-token": claimed.lease_token,
    "content-type": "text/plain",
    ...headers,
  });
}

/** What a runner declares of this log. */
export async function declare(
  bytes: Uint8Array | string,
): Promise<{ size: number; sha256: string }> {
  const content = typeof bytes === "string" ? encoder.encode(bytes) : bytes;
  return { size: content.length, sha256: await sha256Hex(content.slice().buffer) };
}

export function logObject(deploymentId: string) {
  return env.ATTEMPT_LOG.getByName(deploymentId);
}

/** Moves the clock of the Worker and of its objects. It stands still until the test finishes. */
export function passTime(milliseconds: number): void {
  if (!vi.isFakeTimers()) {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    onTestFinished(() => {
      vi.useRealTimers();
    });
  }
  vi.setSystemTime(Date.now() + milliseconds);
}

type LogMethod = keyof LogStub;

/** The logs, with a record of the calls, and with faults. */
export class WatchedLogs {
  readonly calls: LogMethod[] = [];
  /** A call that fails, before or after its effect. */
  fault: (method: LogMethod) => "before" | "after" | undefined = () => undefined;

  readonly namespace = {
    getByName: (name: string) => this.#stub(logObject(name)),
  } as unknown as typeof env.ATTEMPT_LOG;

  count(method: LogMethod): number {
    return this.calls.filter((each) => each === method).length;
  }

  #stub(object: ReturnType<typeof logObject>): LogStub {
    const stub = object as unknown as LogStub;
    return {
      append: (request) => this.#pass("append", () => stub.append(request)),
      read: (...input) => this.#pass("read", () => stub.read(...input)),
      refresh: (id) => this.#pass("refresh", () => stub.refresh(id)),
      refreshFollowers: (id) => this.#pass("refreshFollowers", () => stub.refreshFollowers(id)),
      erase: () => this.#pass("erase", () => stub.erase()),
      fetch: (url, init) => this.#pass("fetch", () => stub.fetch(url, init)),
    };
  }

  async #pass<Result>(method: LogMethod, call: () => Promise<Result>): Promise<Result> {
    this.calls.push(method);
    const fault = this.fault(method);
    if (fault === "before") throw new Error("The call is lost");
    const result = await call();
    if (fault === "after") throw new Error("The reply is lost");
    return result;
  }
}

export interface ServerSentEvent {
  /** `message` if the event has no name. */
  event: string;
  /** The newest ID of the stream. */
  id: string | undefined;
  data: string;
}

/** Parses a stream of events as a browser does (HTML standard, "Server-sent events"). Comments are left out. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let id: string | undefined;
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = Object.fromEntries(
        block.split("\n").map((line) => {
          const at = line.indexOf(":");
          return [line.slice(0, at), line.slice(at + 2)];
        }),
      );
      id = fields["id"] ?? id;
      if (fields["data"] === undefined) continue;
      yield { event: fields["event"] ?? "message", id, data: fields["data"] };
    }
  }
}
