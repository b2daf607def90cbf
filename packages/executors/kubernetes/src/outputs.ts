import { REPORT_LIMITS } from "../../../runner/src/report-lines.ts";
import { ProgramError, type Report, toPrinted } from "../../program/src/index.ts";
import { type Fields, type KubernetesObject, kindOf, nameOf } from "./objects.ts";

const OUTPUT_NAME = /^[A-Za-z0-9_.-]{1,100}$/;
/** Such as `service/web#/spec/clusterIP`: an object of the stack, and a JSON Pointer. */
const REFERENCE = /^([^#\s]+)#(\/.*)$/;

interface OutputReference {
  object: string;
  pointer: string;
}

interface Address {
  name: string;
  value: string;
  url: string;
  /** Of an ingress, which says where people go; or of a load balancer, whose port may be for anything. */
  isIngress: boolean;
}

/** Throws a `ProgramError` before anything runs. */
export function readReferences(
  outputs: Readonly<Record<string, string>>,
): Map<string, OutputReference> {
  const entries = Object.entries(outputs).map(([name, value]): [string, OutputReference] => {
    const [, object, pointer] = REFERENCE.exec(value) ?? [];
    if (!OUTPUT_NAME.test(name) || object === undefined || pointer === undefined) {
      throw new ProgramError(
        "The setting outputs must have names of letters, digits, _, . and -, with values such as service/web#/spec/clusterIP.",
      );
    }
    if (/^secrets?\//.test(object)) {
      throw new ProgramError(
        "The setting outputs must not name secrets: everybody who sees the stack sees them.",
      );
    }
    return [name, { object, pointer }];
  });
  return new Map(entries);
}

/** What the settings name, where load balancers and ingresses are, and the URL. */
export function reportOutputs(
  report: Report,
  objects: readonly KubernetesObject[],
  {
    references,
    url,
  }: { references: ReadonlyMap<string, OutputReference>; url: string | undefined },
): void {
  const outputs = new Map<string, string>();
  for (const [name, reference] of references) {
    const value = readReference(objects, reference);
    if (value !== undefined) outputs.set(name, value);
    else console.log(`The output ${name} is not reported: ${reference.object} has no text there.`);
  }
  const addresses = objects.flatMap(findAddresses);
  for (const { name, value } of addresses) if (!outputs.has(name)) outputs.set(name, value);
  const found = url ?? outputs.get("url") ?? findUrl(addresses);
  if (found !== undefined) outputs.set("url", found);
  // The URL is the last one that may be missing.
  const all = [...outputs].toSorted(([a], [b]) => Number(b === "url") - Number(a === "url"));
  for (const [name, value] of all.slice(0, REPORT_LIMITS.outputs)) report.output(name, value);
}

function readReference(
  objects: readonly KubernetesObject[],
  { object, pointer }: OutputReference,
): string | undefined {
  let value: unknown = objects.find((each) => nameOf(each) === object);
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const isMember = typeof value === "object" && value !== null && Object.hasOwn(value, key);
    value = isMember ? (value as Fields)[key] : undefined;
  }
  return ["string", "number", "boolean"].includes(typeof value) ? toPrinted(value) : undefined;
}

function findAddresses(object: KubernetesObject): Address[] {
  if (kindOf(object) === "Ingress.networking.k8s.io") return findIngressAddresses(object);
  const isBalanced = kindOf(object) === "Service" && object.spec?.["type"] === "LoadBalancer";
  return isBalanced ? findServiceAddresses(object) : [];
}

/** `web`, `web_2`, …: where each host of the rules is, or the load balancer if they have none. */
function findIngressAddresses({ metadata, spec, status }: KubernetesObject): Address[] {
  const rules = toList<{ host?: string }>(spec?.["rules"]);
  const secure = toList<{ hosts?: string[] }>(spec?.["tls"]).flatMap(({ hosts = [] }) => hosts);
  const named = rules.flatMap(({ host }) =>
    host === undefined || host.startsWith("*") ? [] : [host],
  );
  const hosts = named.length > 0 ? [...new Set(named)] : findHosts(status).slice(0, 1);
  return hosts.map((host, at) => {
    const url = `${secure.includes(host) ? "https" : "http"}://${host}`;
    const name = at === 0 ? metadata.name : `${metadata.name}_${at + 1}`;
    return { name, value: url, url, isIngress: true };
  });
}

/** `web_80` for each port of TCP, with the value `192.0.2.1:80`. */
function findServiceAddresses({ metadata, spec, status }: KubernetesObject): Address[] {
  const [host] = findHosts(status);
  if (host === undefined) return [];
  const ports = toList<{ port: number; protocol?: string }>(spec?.["ports"]);
  return ports
    .filter(({ protocol = "TCP" }) => protocol === "TCP")
    .map(({ port }) => ({
      name: `${metadata.name}_${port}`,
      value: `${host}:${port}`,
      url: port === 443 ? `https://${host}` : `http://${host}${port === 80 ? "" : `:${port}`}`,
      isIngress: false,
    }));
}

function findHosts(status: Fields | undefined): string[] {
  const { ingress } = (status?.["loadBalancer"] ?? {}) as { ingress?: unknown };
  return toList<{ hostname?: string; ip?: string }>(ingress).flatMap(({ hostname, ip }) => {
    const host = hostname ?? (ip?.includes(":") ? `[${ip}]` : ip);
    return host === undefined ? [] : [host];
  });
}

/** The only ingress, or the only port of a load balancer. */
function findUrl(addresses: readonly Address[]): string | undefined {
  const ingresses = addresses.filter(({ isIngress }) => isIngress);
  const [only, ...others] = ingresses.length > 0 ? ingresses : addresses;
  return others.length === 0 ? only?.url : undefined;
}

function toList<T>(value: unknown): T[] {
  return Array.isArray(value) ? value : [];
}
