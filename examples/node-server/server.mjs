/**
 * node server.mjs start FOLDER RELEASE   starts the server, and prints its URL
 *
 * It counts its visits in the folder, and ends once another release has started there.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_EVERY_MS = 100;

const [command, folder = ".", release = ""] = process.argv.slice(2);
const urlFile = join(folder, `${release}.url`);
const releaseFile = join(folder, "release");
const visitsFile = join(folder, "visits");

if (command === "start") await start();
else if (command === "serve") serve();
else throw new Error("Usage: node server.mjs start FOLDER RELEASE");

async function start() {
  writeFileSync(releaseFile, release);
  // In a process group of its own, because the runner ends that of the script.
  const args = [process.argv[1], "serve", folder, release];
  const server = spawn(process.execPath, args, { detached: true, stdio: "ignore" });
  server.unref();
  while (!existsSync(urlFile)) {
    if (server.exitCode !== null) throw new Error(`The server ended with ${server.exitCode}.`);
    await sleep(POLL_EVERY_MS);
  }
  console.log(readFileSync(urlFile, "utf8"));
}

function serve() {
  const server = createServer((_, response) => {
    const visits = existsSync(visitsFile) ? Number(readFileSync(visitsFile, "utf8")) : 0;
    writeFileSync(visitsFile, String(visits + 1));
    response.setHeader("content-type", "text/plain; charset=utf-8");
    response.end(`Hello from ${process.env.LONGSHORE_ENVIRONMENT_NAME}, visit ${visits + 1}\n`);
  });
  server.listen(0, "127.0.0.1", () => {
    writeFileSync(urlFile, `http://127.0.0.1:${server.address().port}/`);
  });
  setInterval(() => isCurrent() || process.exit(), POLL_EVERY_MS);
}

function isCurrent() {
  return existsSync(releaseFile) && readFileSync(releaseFile, "utf8") === release;
}
