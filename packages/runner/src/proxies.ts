import { existsSync } from "node:fs";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { RunnerError } from "./errors.ts";

/** As curl and Node read them, the first one that is set. */
const VARIABLES = {
  "http:": ["http_proxy", "HTTP_PROXY"],
  // Without one of its own, https uses the proxy for http.
  "https:": ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"],
} as const;
const EXCLUSIONS = ["no_proxy", "NO_PROXY"] as const;
export const PROXY_NAMES = /^(?:https?|no)_proxy$/i;

/** Beside the bundle of the runner or the command line; the sources use the file of the runner's bundle. */
const AGENT_FILES = ["./executors/proxies.js", "../dist/executors/proxies.js"];
/** What a resolver says of a name that it does not find. */
const FAILED_LOOK_UPS = ["ENOTFOUND", "EAI_AGAIN", "EAI_NODATA", "EAI_NONAME", "EAI_FAIL"];

type Environment = NodeJS.Dict<string>;

/** There is no response. The message names the proxy in use, or says that there is none. */
export class UnreachableError extends Error {}

interface Proxy {
  variable: string;
  /** Without credentials. */
  address: string;
}

/**
 * Sends the requests of this process through the proxies of its environment. Returns how to stop that.
 *
 * @throws RunnerError for a proxy that is no URL.
 */
export async function useProxies(environment: Environment): Promise<() => void> {
  const names = [...new Set(Object.values(VARIABLES).flat())].filter((name) => environment[name]);
  if (names.length === 0) return () => undefined;
  for (const name of names) readProxy(name, environment[name] ?? "");
  // Node has it since 24.14 and 25.4.
  if ("setGlobalProxyFromEnv" in http) {
    return (http.setGlobalProxyFromEnv as (from: Environment) => () => void)(environment);
  }
  const file = AGENT_FILES.map((each) => new URL(each, import.meta.url)).find((url) =>
    existsSync(fileURLToPath(url.href)),
  );
  if (file) return (await import(file.href)).useProxies(environment);
  throw new RunnerError(`${names[0]} needs Node 24.14 or newer. Update Node, or unset it.`, 2);
}

/** The proxy of requests to a URL. As Node's own `EnvHttpProxyAgent` chooses it. */
export function findProxy(url: string | URL, environment: Environment): Proxy | undefined {
  const { protocol, hostname, port } = new URL(url);
  const names = VARIABLES[protocol === "https:" ? "https:" : "http:"];
  const variable = names.find((name) => environment[name]);
  if (variable === undefined || isExcluded(hostname, port || defaultPort(protocol), environment)) {
    return undefined;
  }
  return readProxy(variable, environment[variable] ?? "");
}

function readProxy(variable: string, text: string): Proxy {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) {
    return { variable, address: `${url.protocol}//${url.host}` };
  }
  throw new RunnerError(
    `Set ${variable} to the URL of an HTTP proxy, such as http://proxy.example.com:3128, or unset it.`,
    2,
  );
}

function defaultPort(protocol: string): string {
  return protocol === "https:" ? "443" : "80";
}

function isExcluded(host: string, port: string, environment: Environment): boolean {
  const excluded = EXCLUSIONS.map((name) => environment[name]).find((each) => each !== undefined);
  return (excluded ?? "").split(/[,\s]+/).some((entry) => {
    const [, name = "", onlyPort] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
    const domain = name.toLowerCase().replace(/^\*?\./, "");
    if (domain === "" || (onlyPort !== undefined && onlyPort !== port)) return false;
    return domain === "*" || host === domain || host.endsWith(`.${domain}`);
  });
}

/** The global `fetch`, whose errors say which proxy is in use, or that there is none. */
export function createFetch(environment: Environment = process.env) {
  return async (url: string | URL, init?: RequestInit): Promise<Response> => {
    try {
      return await fetch(url, init);
    } catch (error) {
      throw describeError(error, url, environment);
    }
  };
}

/** @returns The error itself if a proxy, or its absence, is not the reason. */
function describeError(error: unknown, url: string | URL, environment: Environment): unknown {
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return error;
  const { code = "", message } = error.cause as NodeJS.ErrnoException;
  const proxy = findProxy(url, environment);
  if (!proxy && !FAILED_LOOK_UPS.includes(code)) return error;
  const where = proxy
    ? `through the proxy ${proxy.address} of ${proxy.variable}`
    : describeAbsence(url, environment);
  return new UnreachableError(`${message || code || error.message} (${where})`);
}

function describeAbsence(url: string | URL, environment: Environment): string {
  const isSecure = new URL(url).protocol === "https:";
  const names = VARIABLES[isSecure ? "https:" : "http:"];
  const isSet = names.some((name) => environment[name]);
  if (isSet) return "without a proxy: NO_PROXY excludes the host";
  return `without a proxy: ${isSecure ? "HTTPS_PROXY" : "HTTP_PROXY"} is not set`;
}

/** What no log may show of the proxies: their passwords. */
export function proxySecrets(environment: Environment): string[] {
  return Object.entries(environment).flatMap(([name, value = ""]) => {
    const url = PROXY_NAMES.test(name) && URL.canParse(value) ? new URL(value) : undefined;
    if (!url?.password) return [];
    return [...new Set([url.password, decode(url.password)])];
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
