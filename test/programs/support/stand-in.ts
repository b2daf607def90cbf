import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { Socket } from "node:net";
import { delimiter, join } from "node:path";
import { inject } from "vitest";
import { runDocker } from "./docker-stand-in.ts";
import { runKubectl } from "./kubectl-stand-in.ts";
import { type ToolCall, take } from "./tool-call.ts";

type Tool = "docker" | "kubectl";

const TOOLS: Record<Tool, () => Promise<void>> = { docker: runDocker, kubectl: runKubectl };

/** The folder in which programs ask this process. */
let server: string | undefined;

/** Puts the stand-in of a tool into a folder, where it keeps its state. Returns a `PATH` with which it is found first. */
export function installStandIn(tool: Tool, folder: string): string {
  mkdirSync(folder, { recursive: true });
  server ??= startServer();
  writeFileSync(join(folder, tool), clientOf(server, tool, folder), { mode: 0o755 });
  return `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
}

/**
 * A program that has this process do the call, because a test calls a tool up to a thousand times: starting Node for
 * each takes ten times as long. It opens its pipe for both directions, so that neither side waits for the other to open.
 */
function clientOf(folder: string, tool: Tool, state: string): string {
  return `#!/bin/sh
call="${folder}/$$"
mkfifo "$call.end"
exec 3<>"$call.end"
printf '%s\\0' ${tool} "${state}" "$PPID" "$PWD" "$@" > "$call.args"
env -0 > "$call.env"
echo "$$" > "${folder}/requests"
read -r status <&3
[ -s "$call.out" ] && cat "$call.out"
[ -s "$call.err" ] && cat "$call.err" >&2
exit "$status"
`;
}

/** Does the calls until this process ends. */
function startServer(): string {
  const folder = mkdtempSync(join(inject("dataFolder"), "stand-in-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const requests = join(folder, "requests");
  execFileSync("mkfifo", [requests]);
  // Also for writing: it does not end when nobody writes to it.
  const fd = openSync(requests, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.unref();
  let rest = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const pid of lines) void answer(join(folder, pid), Number(pid));
  });
  return folder;
}

async function answer(path: string, pid: number): Promise<void> {
  const [tool = "", folder = "", parent, cwd = "", ...args] = readTexts(`${path}.args`);
  const variables = readTexts(`${path}.env`).map((text) => /^([^=]*)=(.*)$/s.exec(text) ?? []);
  const env = Object.fromEntries(variables.map(([, name = "", value = ""]) => [name, value]));
  const call: ToolCall = { pid, parent: Number(parent), folder, cwd, args, env };
  const ended = await take(call, TOOLS[tool as Tool]);
  if (ended) {
    write(`${path}.out`, ended.stdout);
    write(`${path}.err`, ended.stderr);
    reply(`${path}.end`, `${ended.status}\n`);
  }
  for (const end of ["args", "env", "end"]) rmSync(`${path}.${end}`);
}

function readTexts(file: string): string[] {
  return readFileSync(file, "utf8").split("\0").slice(0, -1);
}

/** Another process may have had the same ID before. */
function write(file: string, text: string): void {
  if (text === "") rmSync(file, { force: true });
  else writeFileSync(file, text);
}

function reply(pipe: string, text: string): void {
  try {
    const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fd, text);
    closeSync(fd);
  } catch (error) {
    // It was killed.
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
  }
}
