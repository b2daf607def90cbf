import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { isLoopback } from "../../../src/lib/origins.ts";
import { CommandError } from "./command-error.ts";
import { Networks } from "./http/client-address.ts";

export const USAGE = `Usage: longshore-server [options]
       longshore-server backup FILE [--data DIR]
       longshore-server restore FILE [--data DIR]

Runs Longshore on one machine, with everything in one folder.

Options:
  --url URL               the address that people use, such as https://longshore.example.com
                          (default: http://localhost:PORT, for this machine only)
  --host ADDRESS          the address to listen on (default: LONGSHORE_HOST, or localhost)
  --port N                the port to listen on (default: 8787)
  --data DIR              the folder of the data (default: LONGSHORE_DATA, or longshore-data)
  --trusted-proxy CIDR    a proxy whose X-Forwarded-For is believed; may be repeated
  --private-network CIDR  a private network that webhooks and the identity provider may be in; may be repeated
  --metrics-port N        serves metrics for Prometheus at this port of --host
  --log text|json         how requests and errors are logged (default: text)
  --new-key               creates an API key for the first organization's owner
  --version, --help`;

const MAXIMUM_PORT = 65_535;
const UNUSABLE = 2;

export type LogFormat = "text" | "json";

export interface ServeOptions {
  url: URL;
  host: string;
  port: number;
  data: string;
  trustedProxies: Networks;
  privateNetworks: Networks;
  metricsPort: number | undefined;
  log: LogFormat;
  needsNewKey: boolean;
}

const OPTIONS = {
  url: { type: "string" },
  host: { type: "string" },
  port: { type: "string", default: "8787" },
  data: { type: "string" },
  "trusted-proxy": { type: "string", multiple: true, default: [] as string[] },
  "private-network": { type: "string", multiple: true, default: [] as string[] },
  "metrics-port": { type: "string" },
  log: { type: "string", default: "text" },
  "new-key": { type: "boolean", default: false },
} as const;

type Environment = Readonly<NodeJS.Dict<string>>;

/** @throws CommandError with what to change. */
export function readServeOptions(
  args: readonly string[],
  environment: Environment = {},
): ServeOptions {
  const { values } = readArguments({ args: [...args], options: OPTIONS });
  const { log, "metrics-port": metricsPort, "private-network": privateNetworks } = values;
  const host = values.host ?? environment["LONGSHORE_HOST"] ?? "localhost";
  const port = readPort("port", values.port);
  if (log !== "text" && log !== "json") throw unusable('Set --log to "text" or "json".');
  return {
    url: readUrl(values.url, { host, port }),
    host,
    port,
    data: dataFolder(values.data, environment),
    trustedProxies: readNetworks("trusted-proxy", values["trusted-proxy"]),
    privateNetworks: readNetworks("private-network", privateNetworks),
    metricsPort: metricsPort === undefined ? undefined : readPort("metrics-port", metricsPort),
    log,
    needsNewKey: values["new-key"],
  };
}

/** The options of `backup` and `restore`. */
export function readFileOptions(
  args: readonly string[],
  environment: Environment = {},
): { file: string; data: string } {
  const options = { data: OPTIONS.data };
  const { values, positionals } = readArguments({
    args: [...args],
    options,
    allowPositionals: true,
  });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw unusable("Name one file.");
  const { data } = values as { data?: string };
  return { file: resolve(file), data: dataFolder(data, environment) };
}

function dataFolder(given: string | undefined, environment: Environment): string {
  return resolve(given ?? environment["LONGSHORE_DATA"] ?? "longshore-data");
}

const readArguments: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (error) {
    throw unusable(error instanceof Error ? error.message : String(error));
  }
};

function readPort(name: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= MAXIMUM_PORT) return port;
  throw unusable(`Set --${name} to a number from 1 to ${MAXIMUM_PORT}; "${text}" is not one.`);
}

function readNetworks(name: string, texts: readonly string[]): Networks {
  try {
    return new Networks(texts);
  } catch (error) {
    throw unusable(`--${name}: ${error instanceof Error ? error.message : error}`);
  }
}

function readUrl(text: string | undefined, { host, port }: { host: string; port: number }): URL {
  if (text === undefined && !isLoopback(host)) {
    throw unusable(
      `Add --url with the address that people use, such as --url https://longshore.example.com. Without it, Longshore ` +
        `listens for this machine only, and ${host} is reached by others.`,
    );
  }
  if (text === undefined) return new URL(`http://localhost:${port}`);
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw unusable(
      `"${text}" is not a URL. Set --url to one such as https://longshore.example.com.`,
    );
  }
  if (url.pathname !== "/" || url.search || url.hash || url.username || url.password) {
    throw unusable(`Set --url to a scheme and a host, without a path: ${url.origin}`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw unusable(
      `Set --url to https: browsers sign in at http: only on this machine, and API keys would be readable on the way. ` +
        "A proxy adds TLS: see docs/self-hosting.md.",
    );
  }
  return url;
}

function unusable(message: string): CommandError {
  return new CommandError(`${message}\n\n${USAGE}`, UNUSABLE);
}
