import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { installPackedPackages } from "./packed-packages.ts";
import { ApiClient } from "./service.ts";

const POLL_EVERY_MS = 50;
const READY = "Longshore is ready.";

/** The packed server in a folder with nothing else, but for Miniflare, which npm would install from the registry. */
export class InstalledServer {
  readonly folder = mkdtempSync(join(inject("dataFolder"), "longshore-own-"));
  readonly program: string;

  constructor() {
    const installed = join(this.folder, "installed");
    mkdirSync(installed);
    installPackedPackages(installed);
    const modules = join(installed, "node_modules");
    symlinkSync(join(ROOT, "node_modules/miniflare"), join(modules, "miniflare"));
    this.program = join(modules, "@longshore/server/dist/longshore-server.js");
  }

  /** A path below the folder. */
  path(name: string): string {
    return join(this.folder, name);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** Runs the program to its end. */
  async run(
    args: readonly string[],
    options: StartOptions = {},
  ): Promise<{ code: number | null; output: string }> {
    const started = new OwnServer(this, args, options);
    const code = await started.exited;
    return { code, output: started.output };
  }

  /** Starts the server, and waits until it is ready. */
  async start(args: readonly string[], options: StartOptions = {}): Promise<OwnServer> {
    const port = options.port ?? (await findFreePort());
    const server = new OwnServer(this, ["--port", String(port), ...args], { ...options, port });
    await server.waitFor(READY);
    return server;
  }
}

export interface StartOptions {
  port?: number;
  environment?: NodeJS.Dict<string>;
  /** What runs the program, such as `unshare`, before the path of Node. */
  prefix?: readonly string[];
  uid?: number;
}

/** A process of the packed server. */
export class OwnServer {
  output = "";
  readonly port: number;
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(
    { program, folder }: InstalledServer,
    args: readonly string[],
    { port = 0, environment = {}, prefix = [], uid }: StartOptions,
  ) {
    this.port = port;
    const [command = "", ...rest] = [...prefix, process.execPath, program, ...args];
    this.#child = spawn(command, rest, {
      cwd: folder,
      // Nothing of the test's own environment reaches it.
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        TMPDIR: process.env["TMPDIR"],
        MINIFLARE_WORKERD_PATH: inject("runtimeProgram"),
        ...environment,
      } as unknown as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
      ...(uid !== undefined && { uid, gid: uid }),
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    this.exited = once(this.#child, "close").then(([code]) => code as number | null);
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.port}`);
  }

  /** What the first start has printed. */
  get apiKey(): string {
    return /API key {2}(lsh_\w+)/.exec(this.output)?.[1] ?? "";
  }

  get client(): ApiClient {
    return new ApiClient(this.url, this.apiKey);
  }

  /** @throws If the process ends before. */
  async waitFor(text: string): Promise<void> {
    let hasEnded = false;
    this.exited.finally(() => {
      hasEnded = true;
    });
    while (!this.output.includes(text)) {
      if (hasEnded) throw new Error(`The server ended without "${text}":\n${this.output}`);
      await sleep(POLL_EVERY_MS);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async stop(): Promise<number | null> {
    this.signal("SIGTERM");
    return this.exited;
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.exited;
  }
}

/** Copies the data of a server that does not run. */
export function copyData(from: string, to: string): void {
  if (existsSync(to)) rmSync(to, { recursive: true });
  cpSync(from, to, { recursive: true });
}
