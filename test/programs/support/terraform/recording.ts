import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";

/** What a call has printed, or a signal that it has got. */
export type TerraformEvent = { out: string } | { err: string } | { signal: string };

/** A call of the real program. */
export interface TerraformCall {
  args: string[];
  /** SHA-256 of the files of the module. */
  module: string;
  /** The contents of the files that options name, by option. */
  files: Record<string, unknown>;
  events: TerraformEvent[];
  /** What `init` has written about the backend. */
  backend?: string;
  /** Absent: it was killed. */
  code?: number;
}

/** Stands for the folder of the test in recordings. */
export const ROOT_NAME = "{root}";
const USER = "ada@runner";

export function hashModule(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder).toSorted()) {
    if (name.endsWith(".tf")) hash.update(`${name}\n${readFileSync(join(folder, name), "utf8")}`);
  }
  return hash.digest("hex");
}

export function readFilesOf(args: readonly string[]): Record<string, unknown> {
  const found = args.flatMap((arg) => {
    const [, option = "", path = ""] = /^-(var-file|backend-config)=(.*)$/.exec(arg) ?? [];
    return path === "" ? [] : [[option, JSON.parse(readFileSync(path, "utf8"))]];
  });
  return Object.fromEntries(found);
}

export function readBackendOf(dataFolder: string): string | undefined {
  const file = join(dataFolder, "terraform.tfstate");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** For a comparison: of absolute paths and of `ROOT_NAME`, only the last part stays. */
export function withoutFolders(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/(?<=["=])(?:\/|\{root\})[^"]*\//g, "/"));
}

/** From the lines that the recorder has written. */
export function toCalls(lines: string, root: string): TerraformCall[] {
  const calls: TerraformCall[] = [];
  const anonymous = lines
    .replaceAll(root, ROOT_NAME)
    .replaceAll(`${userInfo().username}@${hostname()}`, USER);
  for (const line of anonymous.split("\n").filter(Boolean)) {
    const read = JSON.parse(line);
    const last = calls.at(-1);
    if (read.args) calls.push({ ...read, events: [] });
    else if ("code" in read) Object.assign(last ?? {}, read);
    else last?.events.push(read);
  }
  return calls.map((call) => ({ ...call, events: joinTexts(call.events) }));
}

/** Where one event ends and the next one begins is chance. */
function joinTexts(events: readonly TerraformEvent[]): TerraformEvent[] {
  const joined: TerraformEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (last && "out" in last && "out" in event) last.out += event.out;
    else if (last && "err" in last && "err" in event) last.err += event.err;
    else joined.push({ ...event });
  }
  return joined;
}
