/**
 * Runs the real program in its place, and appends what it does to a file as it happens, so that a call that is killed is
 * recorded, too: `recorder.ts FILE TOOL ARGUMENT…`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { hashModule, readBackendOf, readFilesOf } from "./recording.ts";

const [file = "", tool = "", ...args] = process.argv.slice(2);
const append = (line: object) => appendFileSync(file, `${JSON.stringify(line)}\n`);

append({ args, module: hashModule(process.cwd()), files: readFilesOf(args) });
const child = spawn(tool, args, { stdio: ["ignore", "pipe", "pipe"] });
const streams = [
  { name: "out", from: child.stdout, to: process.stdout },
  { name: "err", from: child.stderr, to: process.stderr },
];
for (const { name, from, to } of streams) {
  from.setEncoding("utf8").on("data", (text: string) => {
    append({ [name]: text });
    to.write(text);
  });
}
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    append({ signal });
    child.kill(signal);
  });
}
const [code] = await once(child, "close");
const backend = args[0] === "init" ? readBackendOf(process.env["TF_DATA_DIR"] ?? "") : undefined;
append({ code, ...(backend !== undefined && { backend }) });
process.exitCode = code;
