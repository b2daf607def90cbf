/**
 * Stands in for `docker` with its Compose plugin: checks the options that the executor `compose` gives it, and keeps an
 * engine in the file `engine.json` beside it. The name of an image says how its containers behave. While the folder has
 * the file `hold`, containers stay as they are while they start.
 */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { currentCall, fail, pathOf, pause, print } from "./tool-call.ts";

interface Container {
  id: string;
  service: string;
  image: string;
  imageId: string;
  state: string;
  health: string;
  exitCode: number;
  hash: string;
  ports: string[];
}

interface Engine {
  containers: Container[];
  /** IDs by names. */
  images: Record<string, string>;
  /** Of all images, also of those that have lost their names. */
  ids: string[];
  /** What was imported, by the name of its image. */
  imported: Record<string, string>;
}

type Service = Record<string, unknown> & { image?: string; build?: unknown; ports?: unknown[] };

const POLL_EVERY_MS = 20;
const PROJECT = /^longshore-[a-z0-9]+$/;
/** The commands that the executor may run, without those of Compose. */
const COMMANDS: Record<string, (args: string[], flags: string[]) => void | Promise<void>> = {
  "context inspect": () => print(currentCall().env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock"),
  "container ls": (_, flags) => {
    demand(flags.includes("--all") && flags.includes("--no-trunc"), "all containers");
    for (const { id } of read().containers) print(id);
  },
  "container inspect": (ids) => {
    for (const each of read().containers) if (ids.includes(each.id)) print(inspect(each));
  },
  /** What a request to a published port would get. */
  "get http://localhost:8080": () => print(readText("page") ?? ""),
  "network ls": () => print(`${projectName()}_default\tdefault`),
  "volume ls": () => undefined,
  "image inspect": ([name = ""]) => {
    const id = read().images[name] ?? Object.values(read().images).find((each) => each === name);
    if (id === undefined) fail(`No such image: ${name}`);
    else print(id);
  },
  "image tag": ([id = "", name = ""]) => {
    if (!read().ids.includes(id)) return fail(`No such image: ${id}`);
    change((engine) => {
      engine.images[name] = id;
    });
  },
  "image import": ([path = "", name = ""]) => {
    const content = readFileSync(pathOf(path)).subarray(512).toString().replace(/\0+$/, "");
    change((engine) => {
      engine.images[name] = toId(content);
      engine.imported[name] = content;
    });
  },
  /** By its ID, it loses its names, too. */
  "image rm": ([image = ""]) =>
    change((engine) => {
      for (const [name, id] of Object.entries(engine.images)) {
        if (name !== image && id !== image) continue;
        delete engine.images[name];
        delete engine.imported[name];
      }
    }),
  "container create": ([image = ""]) => print(`copy-of-${image}`),
  "container cp": ([from = "", to = ""]) => {
    const image = from.replace(/^copy-of-/, "").replace(/:\/release\.json$/, "");
    writeFileSync(pathOf(to), read().imported[image] ?? "");
  },
  "container rm": () => undefined,
};

export async function runDocker(): Promise<void> {
  const { args, env } = currentCall();
  const { DOCKER_HOST: host = "" } = env;
  appendFileSync(join(currentCall().folder, "docker.log"), `${JSON.stringify({ host, args })}\n`);
  if (args[0] === "compose") return compose(args.slice(1));
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  const command = COMMANDS[options.slice(0, 2).join(" ")];
  if (!command) return fail(`unknown command: ${args.join(" ")}`);
  const positional = end === -1 ? [] : args.slice(end + 1);
  await command(positional, options.slice(2));
}

async function compose(args: string[]): Promise<void> {
  if (args[0] === "version") return print(readText("version") ?? "2.40.3");
  const at = args.findIndex((each) => !each.startsWith("--"));
  const globals = args.slice(0, at);
  const [command = "", ...flags] = args.slice(at);
  const project = readOption(globals, "--project-name");
  demand(PROJECT.test(project), "a name of the project");
  writeFileSync(join(currentCall().folder, "project"), project);
  const variables = {
    ...readEnvFile(pathOf(readOption(globals, "--env-file"))),
    ...currentCall().env,
  };
  const files = globals
    .filter((each) => each.startsWith("--file="))
    .map((each) => pathOf(each.slice(7)));
  const file = merge(files, flags.includes("--no-interpolate") ? undefined : variables);
  if (command === "config") return config(file, flags);
  const services: Record<string, Service> = file.services;
  if (command === "pull") return pull(services);
  if (command === "build") return print("built");
  if (command === "logs") return print("web-1 | Cannot reach the database.");
  if (command === "up") {
    await up(services, flags);
    return writeFileSync(join(currentCall().folder, "page"), file.configs?.["page"]?.content ?? "");
  }
  fail(`unknown command: ${command}`);
}

function config(file: { services: Record<string, Service> }, flags: string[]): void {
  if (flags.includes("--hash=*")) {
    for (const [name, service] of Object.entries(file.services)) print(name, hashOf(service));
  } else print(JSON.stringify(file, undefined, 2));
}

function pull(services: Record<string, Service>): void {
  for (const { image = "", build } of Object.values(services)) {
    if (image.endsWith(":missing")) {
      fail(`manifest for ${image} not found`);
      return;
    }
    if (build === undefined)
      change((engine) => {
        engine.images[image] = contentOf(image);
        engine.ids = [...new Set([...engine.ids, contentOf(image)])];
      });
  }
}

/** Somebody has pushed another image of the same name if the file `registry` has another content. */
function contentOf(image: string): string {
  return toId(`${image}${readText("registry") ?? ""}`);
}

async function up(services: Record<string, Service>, flags: string[]): Promise<void> {
  for (const each of ["--detach", "--wait", "--remove-orphans", "--no-build"]) {
    demand(flags.includes(each), each);
  }
  demand(
    flags.some((each) => /^--wait-timeout=[1-9]\d*$/.test(each)),
    "a timeout",
  );
  const names = Object.keys(services);
  change((engine) => {
    engine.containers = engine.containers.filter(({ service }) => names.includes(service));
  });
  let isUp = true;
  for (const [name, service] of Object.entries(services))
    isUp = (await start(name, service)) && isUp;
  if (!isUp) fail("a container has failed");
}

async function start(service: string, description: Service): Promise<boolean> {
  const { image = "", ports = [] } = description;
  const imageId = read().images[image] ?? toId(image);
  const hash = hashOf(description);
  const isSame = (each: Container) =>
    each.service === service &&
    each.hash === hash &&
    each.imageId === imageId &&
    each.health !== "starting" &&
    each.state === "running";
  if (read().containers.some(isSame)) return true;
  const container: Container = {
    ...{ id: toId(`${service}${hash}${imageId}`), service, image, imageId, hash },
    ...{ state: "created", health: "", exitCode: 0, ports: ports.map(toPort) },
  };
  put(container);
  await pause(1_500);
  put({ ...container, state: "running", health: "starting" });
  if (image.endsWith(":slow")) await pause(600_000);
  while (existsSync(join(currentCall().folder, "hold"))) await pause(POLL_EVERY_MS);
  await pause(1_500);
  if (image.endsWith(":exits")) put({ ...container, state: "exited", exitCode: 3 });
  else
    put({
      ...container,
      state: "running",
      health: image.endsWith(":sick") ? "unhealthy" : "healthy",
    });
  return !/:(exits|sick)$/.test(image);
}

function put(container: Container): void {
  change((engine) => {
    const others = engine.containers.filter(({ service }) => service !== container.service);
    engine.containers = [...others, container];
  });
}

/** Such as `8080:80`, or an object. */
function toPort(port: unknown): string {
  if (typeof port === "string") return port;
  const { published, target } = port as { published: string; target: number };
  return `${published}:${target}`;
}

function inspect({
  id,
  service,
  image,
  imageId,
  state,
  health,
  exitCode,
  hash,
  ports,
}: Container): string {
  const label = "com.docker.compose";
  const bindings = ports.map((each) => {
    const [published = "", target = ""] = each.split(":");
    return [`${target}/tcp`, ["0.0.0.0", "::"].map((HostIp) => ({ HostIp, HostPort: published }))];
  });
  return JSON.stringify({
    ...{ Id: id, Name: `/${projectName()}-${service}-1`, Image: imageId, RestartCount: 0 },
    State: { Status: state, ExitCode: exitCode, ...(health && { Health: { Status: health } }) },
    Config: {
      Image: image,
      Labels: {
        [`${label}.service`]: service,
        [`${label}.config-hash`]: hash,
        [`${label}.oneoff`]: "False",
      },
    },
    NetworkSettings: { Ports: Object.fromEntries(bindings) },
  });
}

function merge(files: string[], variables: NodeJS.Dict<string> | undefined) {
  const services: Record<string, Service> = {};
  const rest: { configs?: Record<string, { content?: string }> } = {};
  for (const path of files) {
    const text = readFileSync(path, "utf8");
    const { services: more = {}, ...others } = parse(
      variables ? interpolate(text, variables) : text,
    );
    Object.assign(services, absolute(more, dirname(path)));
    Object.assign(rest, others);
  }
  return { ...rest, services };
}

/** Relative to the file, as Compose resolves the sources of bind mounts. */
function absolute(services: Record<string, Service>, folder: string): Record<string, Service> {
  const entries = Object.entries(services).map(([name, service]) => {
    const { volumes } = service as { volumes?: { type: string; source: string }[] };
    const resolved = volumes?.map((each) =>
      each.type === "bind" ? { ...each, source: resolve(folder, each.source) } : each,
    );
    return [name, { ...service, ...(resolved && { volumes: resolved }) }];
  });
  return Object.fromEntries(entries);
}

function interpolate(text: string, variables: NodeJS.Dict<string>): string {
  return text.replaceAll(/\$\$|\$\{(\w+)(?::-([^}]*))?\}/g, (part, name, otherwise = "") =>
    part === "$$" ? "$" : variables[name] || otherwise,
  );
}

/** The values have quotes, in which \ escapes. */
function readEnvFile(path: string): Record<string, string> {
  const lines = readFileSync(path, "utf8").matchAll(/^(\w+)="((?:[^"\\]|\\.)*)"$/gms);
  return Object.fromEntries(
    [...lines].map(([, name, value = ""]) => [name, value.replaceAll(/\\(.)/gs, "$1")]),
  );
}

function hashOf({ build: _, ...service }: Service): string {
  return createHash("sha256").update(JSON.stringify(service)).digest("hex");
}

function toId(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

function projectName(): string {
  return readText("project") ?? "longshore-none";
}

function readText(name: string): string | undefined {
  const path = join(currentCall().folder, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
}

function read(): Engine {
  return JSON.parse(
    readText("engine.json") ?? '{"containers":[],"images":{},"ids":[],"imported":{}}',
  );
}

function change(apply: (engine: Engine) => void): void {
  const engine = read();
  apply(engine);
  const path = join(currentCall().folder, "engine.json");
  const written = `${path}.${currentCall().pid}`;
  writeFileSync(written, JSON.stringify(engine));
  renameSync(written, path);
}

function readOption(args: readonly string[], name: string): string {
  return args.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The stand-in of docker needs ${what}.`);
}
