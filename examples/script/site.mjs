/**
 * node site.mjs deploy   builds the site of the stack, restarts its server, and prints the URL
 * node site.mjs stop     stops all servers and deletes their sites
 *
 * A server ends when its release is deleted. So nothing is killed by a process ID, which may be that of
 * another process, and a run that was killed leaves no server that the next one cannot end.
 */
import { spawn } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(import.meta.url);
const HERE = import.meta.dirname;
const SITES = join(HERE, "sites");
const HOST = "127.0.0.1";
const STARTS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 5_000;
const POLL_EVERY_MS = 100;
const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css" };

const [command, ...args] = process.argv.slice(2);
if (command === "deploy") console.log(await deploy(process.env));
else if (command === "serve") serve(...args);
else if (command === "stop") rmSync(SITES, { recursive: true, force: true });
else throw new Error("Usage: node site.mjs deploy | stop");

/** Returns the URL of the site. */
async function deploy(environment) {
  const stack = environment.LONGSHORE_STACK_ID ?? "";
  if (!/^\w{22}$/.test(stack)) throw new Error("The runner of Longshore runs this, for a stack.");
  const site = join(SITES, stack);
  const release = join(site, `release-${Date.now()}`);
  build(release, environment);
  const port = readPort(site);
  for (const name of readdirSync(site).filter((each) => each.startsWith("release-"))) {
    if (join(site, name) !== release) rmSync(join(site, name), { recursive: true, force: true });
  }
  // The new server takes the port of the old one.
  const deadline = Date.now() + STOPS_WITHIN_MS;
  while (port !== 0 && Date.now() < deadline && (await responds(port))) await sleep(POLL_EVERY_MS);
  return start(site, release, port);
}

/** Writes a whole release, or none. */
function build(release, environment) {
  const configuration = JSON.parse(readFileSync(environment.LONGSHORE_CONFIGURATION_FILE, "utf8"));
  const values = {
    greeting: configuration.greeting ?? "Hello",
    environment: environment.LONGSHORE_ENVIRONMENT_NAME,
    deployment: environment.LONGSHORE_DEPLOYMENT,
  };
  const unfinished = join(release, "..", "unfinished");
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(join(HERE, "public"), unfinished, { recursive: true });
  const page = join(unfinished, "index.html");
  const text = readFileSync(page, "utf8");
  const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => escapeHtml(String(values[name])));
  writeFileSync(page, filled);
  renameSync(unfinished, release);
}

function escapeHtml(text) {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function start(site, release, port) {
  const logFile = join(site, "server.log");
  const log = openSync(logFile, "w");
  // In a process group of its own, because the runner ends that of the script. It gets none of the variables.
  const server = spawn(process.execPath, [SCRIPT, "serve", site, release, String(port)], {
    detached: true,
    stdio: ["ignore", log, log],
    env: { PATH: process.env.PATH },
  });
  closeSync(log);
  server.unref();
  const deadline = Date.now() + STARTS_WITHIN_MS;
  while (Date.now() < deadline && server.exitCode === null) {
    const url = `http://${HOST}:${readPort(site)}/`;
    if ((await nameOfRelease(url)) === release) return url;
    await sleep(POLL_EVERY_MS);
  }
  throw new Error(`The server has not started: ${readFileSync(logFile, "utf8")}`);
}

function serve(site, release, wanted) {
  const server = createServer((request, response) => {
    const { url = "/" } = request;
    // An exception would end the server.
    if (!URL.canParse(url, `http://${HOST}`)) return response.writeHead(400).end("Bad request\n");
    const { pathname } = new URL(url, `http://${HOST}`);
    const file = join(release, normalize(pathname === "/" ? "/index.html" : pathname));
    const isInside = file.startsWith(`${release}/`);
    if (!isInside || !isFile(file)) return response.writeHead(404).end("Not found\n");
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    return response
      .writeHead(200, { "content-type": type, "x-release": release })
      .end(readFileSync(file));
  });
  server.on("listening", () => {
    const file = join(site, "port");
    writeFileSync(`${file}.new`, String(server.address().port));
    renameSync(`${file}.new`, file);
  });
  // Another program has taken the port since.
  server.once("error", () => server.listen(0, HOST));
  server.listen(Number(wanted), HOST);
  setInterval(() => existsSync(release) || process.exit(), POLL_EVERY_MS);
}

function isFile(path) {
  try {
    return statSync(path).isFile();
  } catch {
    // None, or a name that is too long for one.
    return false;
  }
}

/** 0 if there has been no server yet. */
function readPort(site) {
  const file = join(site, "port");
  mkdirSync(site, { recursive: true });
  return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
}

async function responds(port) {
  return (await nameOfRelease(`http://${HOST}:${port}/`)) !== undefined;
}

/** Undefined if nothing listens there. Empty: another program. */
async function nameOfRelease(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(STOPS_WITHIN_MS) });
    await response.arrayBuffer();
    return response.headers.get("x-release") ?? "";
  } catch {
    return undefined;
  }
}
