import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../lib/command.ts";
import { findFreePort } from "../lib/port.ts";

const START_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 200;
/** The server takes the service and the region from it, and checks no signature. */
const AUTHORIZATION =
  "AWS4-HMAC-SHA256 Credential=key/20270101/eu-central-1/cloudformation/aws4_request, SignedHeaders=host, Signature=0";

/** A server of moto, which stands in for AWS. */
export class MotoServer {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#exited = once(child, "exit");
    this.url = url;
  }

  static async start(command: string): Promise<MotoServer> {
    const port = await findFreePort();
    const child = spawn(command, ["--host", "127.0.0.1", "--port", String(port)], {
      stdio: "ignore",
    });
    child.once("error", () => undefined);
    const server = new MotoServer(child, `http://127.0.0.1:${port}`);
    const deadline = performance.now() + START_WITHIN_MS;
    while (!(await server.#isReady())) {
      if (child.pid === undefined || child.exitCode !== null || performance.now() > deadline) {
        throw new CommandError(
          `${command} does not start. Install it: pip install 'moto[server]==5.2.5'. --server names its path.`,
        );
      }
      await sleep(POLL_EVERY_MS);
    }
    return server;
  }

  /** Forgets all stacks. */
  async reset(): Promise<void> {
    await fetch(`${this.url}/moto-api/reset`, { method: "POST" });
  }

  /** The logical IDs of what the stack has. */
  async listResources(stackName: string): Promise<string[]> {
    const parameters = {
      Action: "ListStackResources",
      Version: "2010-05-15",
      StackName: stackName,
    };
    const response = await fetch(this.url, {
      method: "POST",
      headers: {
        authorization: AUTHORIZATION,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams(parameters).toString(),
    });
    const text = await response.text();
    return [...text.matchAll(/<LogicalResourceId>(\w+)</g)].map(([, id = ""]) => id);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  async #isReady(): Promise<boolean> {
    return fetch(`${this.url}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
