import type { Report } from "../../program/src/index.ts";
import type { ComposeFile } from "./compose-file.ts";
import type { Container } from "./containers.ts";

interface PublishedPort {
  name: string;
  address: string;
  target: number;
  protocol: string;
  /** As the file says it. */
  appProtocol: string | undefined;
}

const ANY_ADDRESS = ["0.0.0.0", "::", ""];
/** Of a stack. One is for the URL. */
const MAXIMUM_PORTS = 49;

/** The published ports, such as `web_80`: `localhost:8080`, and where people open the stack. */
export function reportOutputs(
  report: Report,
  containers: readonly Container[],
  { file, host, url }: { file: ComposeFile; host: string; url: string | undefined },
): void {
  const ports = findPorts(containers, file, host);
  for (const { name, address } of ports.slice(0, MAXIMUM_PORTS)) report.output(name, address);
  const found = url ?? findUrl(ports);
  if (found !== undefined) report.output("url", found);
}

function findPorts(
  containers: readonly Container[],
  { services }: ComposeFile,
  host: string,
): PublishedPort[] {
  const byName = new Map<string, PublishedPort>();
  const addresses = new Set<string>();
  for (const { service, ports } of containers) {
    for (const { target, protocol, host: ip, published } of ports) {
      const address = `${ANY_ADDRESS.includes(ip) ? host : toHost(ip)}:${published}`;
      // An engine publishes a port for IPv4 and IPv6, and each is an entry.
      if (addresses.has(`${address}/${protocol}`)) continue;
      addresses.add(`${address}/${protocol}`);
      const first = `${service}_${target}${protocol === "tcp" ? "" : `_${protocol}`}`;
      const name = toFreeName(first, byName);
      const described = services[service]?.ports?.find((each) => each.target === target);
      byName.set(name, { name, address, target, protocol, appProtocol: described?.app_protocol });
    }
  }
  return [...byName.values()];
}

function toHost(ip: string): string {
  return ip.includes(":") ? `[${ip}]` : ip;
}

/** A service with several containers, or a port that is published more than once, has `web_80`, `web_80_2`, … */
function toFreeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
  return free;
}

/** The port that the file calls HTTP, or the only TCP port, if there is one. */
function findUrl(ports: readonly PublishedPort[]): string | undefined {
  const tcp = ports.filter(({ protocol }) => protocol === "tcp");
  const named = tcp.filter(({ appProtocol }) => appProtocol === "http" || appProtocol === "https");
  const [only, ...others] = named.length > 0 ? named : tcp;
  if (only === undefined || others.length > 0) return undefined;
  const scheme = only.appProtocol ?? (only.target === 443 ? "https" : "http");
  return ["http", "https"].includes(scheme) ? `${scheme}://${only.address}` : undefined;
}
