import {
  ProgramError,
  readTool,
  runTool,
  type ToolOptions,
  type ToolResult,
} from "../../program/src/index.ts";

/** Below 2.20, `up --wait` takes jobs that have ended for failures. */
const MINIMUM_VERSION = [2, 20] as const;
const HOST = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(:\d{1,5})?$/;
const USER = /^[a-z_][a-z0-9_-]*$/;

type Options = Pick<ToolOptions, "onLine" | "hidesErrors">;

/** The command line of Docker, for one engine. */
export class Docker {
  readonly #variables: Readonly<Record<string, string>>;
  /** Where tools find no configuration of their own. */
  readonly #folder: string;

  private constructor(folder: string, variables: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#variables = variables;
  }

  static connect(connection: unknown, folder: string): Docker {
    const host = findHost(connection);
    return new Docker(folder, host === undefined ? {} : { DOCKER_HOST: host });
  }

  /** The same, whose environment also has these. */
  with(variables: Readonly<Record<string, string>>): Docker {
    return new Docker(this.#folder, { ...variables, ...this.#variables });
  }

  run(args: readonly string[], options: Options = {}): Promise<ToolResult> {
    const { onLine, hidesErrors = false } = options;
    return runTool("docker", args, {
      folder: this.#folder,
      variables: this.#variables,
      hidesErrors,
      ...(onLine && { onLine }),
    });
  }

  /** Throws a `ProgramError` if it fails. */
  read(args: readonly string[], problem: string, options: Options = {}): Promise<string> {
    const { hidesErrors = false } = options;
    return readTool("docker", args, {
      folder: this.#folder,
      variables: this.#variables,
      hidesErrors,
      problem,
    });
  }

  /** What `read` prints, in lines. */
  async readLines(args: readonly string[], problem: string, options?: Options): Promise<string[]> {
    const text = await this.read(args, problem, options);
    return text.split("\n").filter((line) => line !== "");
  }

  /** The address of the engine, such as `unix:///var/run/docker.sock`. */
  readAddress(): Promise<string> {
    const args = ["context", "inspect", "--format={{.Endpoints.docker.Host}}"];
    return this.read(args, "docker knows no engine. Check its context on the runner's machine.");
  }

  async requireCompose(): Promise<void> {
    const text = await this.read(
      ["compose", "version", "--short"],
      "docker compose does not run. Install the Compose plugin of Docker, 2.20 or newer, on the runner's machine.",
    );
    const [, major = "0", minor = "0"] = /^v?(\d+)\.(\d+)\./.exec(text) ?? [];
    const [minimumMajor, minimumMinor] = MINIMUM_VERSION;
    const isOld =
      Number(major) < minimumMajor ||
      (Number(major) === minimumMajor && Number(minor) < minimumMinor);
    if (isOld) {
      throw new ProgramError(
        `The Compose plugin of Docker is older than ${MINIMUM_VERSION.join(".")}. Update it on the runner's machine.`,
      );
    }
  }
}

/** The server has checked the connection, too. Undefined: the engine that docker is configured for. */
function findHost(connection: unknown): string | undefined {
  if (typeof connection !== "object" || connection === null) return undefined;
  const { provider, host, user } = connection as Record<string, unknown>;
  if (provider !== "ssh") return undefined;
  const isUser =
    user === undefined || user === null || (typeof user === "string" && USER.test(user));
  if (typeof host !== "string" || !HOST.test(host) || !isUser) {
    throw new ProgramError(
      "The connection of the project must have a host of letters, digits, _, . and -, with an optional port, and " +
        "the name of a user or none.",
    );
  }
  return typeof user === "string" ? `ssh://${user}@${host}` : `ssh://${host}`;
}

/** Where people reach what an engine publishes. */
export function hostOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isRemote = url && ["ssh:", "tcp:", "http:", "https:"].includes(url.protocol);
  return isRemote && url.hostname !== "" ? url.hostname : "localhost";
}
