import { type Client, createClient, type Fetch, type Schemas } from "../../client/src/index.ts";
import { createFetch } from "../../runner/src/proxies.ts";
import type { CliProcess, InputStream } from "./cli-process.ts";
import { type Connection, type ConnectionOptions, readConnection } from "./connection.ts";
import type { Output } from "./output.ts";

/** What the process gives to each command. */
export interface CliContext {
  environment: NodeJS.Dict<string>;
  /** The file of the program, or the link that has started it. */
  program: string;
  /** The folder that the command was started in. */
  folder: string;
  /** Undefined on Windows, where files have no such owner. */
  userId: number | undefined;
  stdin: InputStream;
  output: Output;
  signals: Pick<CliProcess, "on" | "off">;
  /** What the process exits with if the command throws nothing. */
  exitCode: number;
}

type Query = Record<string, string | number | readonly string[] | undefined>;

export interface ReadOptions {
  path?: Record<string, string>;
  query?: Query;
}

/** A person waits: about three seconds if nothing responds. */
const RETRIES = 3;

/** The client, and what commands read once. */
export class Session {
  readonly url: string;
  readonly source: string;
  readonly client: Client;
  #whoAmI: Promise<Schemas["WhoAmI"]> | undefined;

  constructor({ url, apiKey, source }: Connection, fetch?: Fetch, retries = RETRIES) {
    this.url = url.replace(/\/$/, "");
    this.source = source;
    this.client = createClient({ url, apiKey, fetch, retries });
  }

  whoAmI(): Promise<Schemas["WhoAmI"]> {
    this.#whoAmI ??= this.client.get("/v1/whoami");
    return this.#whoAmI;
  }

  async organizationId(): Promise<string> {
    return (await this.whoAmI()).organization.id;
  }

  /** The page of the console. */
  linkTo(deploymentId: string): string {
    return new URL(`/console/deployments/${deploymentId}`, this.url).href;
  }

  /** The page that shows everything that an approval covers. */
  linkToApproval(deploymentId: string): string {
    return `${this.linkTo(deploymentId)}/approve`;
  }

  /** Reads a path that is not known until the command runs. */
  async read<T>(path: string, options: ReadOptions = {}): Promise<T> {
    return (await this.client.get(path as "/v1/whoami", options as object)) as T;
  }

  /** Deletes the record of a path that is not known until the command runs. */
  async remove(path: string, parameters: Record<string, string>, query: Query = {}): Promise<void> {
    const options = { path: parameters, query } as unknown as { path: { project_id: string } };
    await this.client.delete(path as "/v1/projects/{project_id}", options);
  }

  /** At most so many records of a list, and whether there are more. */
  async list<T>(
    path: string,
    { limit, ...options }: ReadOptions & { limit: number },
  ): Promise<{ rows: T[]; hasMore: boolean }> {
    const rows: T[] = [];
    const records = this.client.list(path as "/v1/projects", options as object);
    for await (const record of records) {
      if (rows.length === limit) return { rows, hasMore: true };
      rows.push(record as T);
    }
    return { rows, hasMore: false };
  }
}

/** Connects as the environment, the profile and the options say. */
export async function openSession(
  context: CliContext,
  options: ConnectionOptions,
): Promise<Session> {
  const connection = await readConnection(context.environment, options);
  const send = createFetch(context.environment);
  return new Session(connection, (url, init) =>
    context.output.wait(`Waiting for ${new URL(url).host}`, send(url, init)),
  );
}
