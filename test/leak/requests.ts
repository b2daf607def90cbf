import { type Operation, openApi, resolve } from "../support/contract.ts";
import { AUDIENCE, GITHUB_CLAIMS, ISSUER, type Issuer } from "../support/issuer.ts";
import type { Random } from "../support/random.ts";
import { kindOf, type Node, ORGANIZATION, prefixOf } from "./document.ts";
import type { Knowledge } from "./knowledge.ts";
import type { PlannedRequest } from "./worker.ts";

type Parameter = NonNullable<Operation["parameters"]>[number];

const SECOND_MS = 1_000;
const LIFETIMES_SECONDS = [3_600, 86_400, 30 * 86_400];
const KNOWN_LINK_CHANCE = 0.8;
const SAME_ORGANIZATION_CHANCE = 0.95;
const NEWEST_CHANCE = 0.4;
const OPTIONAL_CHANCE = 0.3;
const KEPT_OPTIONAL_CHANCE = 0.6;
const QUERY_CHANCE = 0.4;
const IDEMPOTENT_CHANCE = 0.15;

/** The prefixes of the credentials that authenticate with a scheme of the document. */
const PREFIXES_OF_SCHEMES: Record<string, string> = {
  api_key: "lsh",
  session: "lss",
  runner_token: "lsr",
};

export interface Means {
  knowledge: Knowledge;
  random: Random;
  issuer: Issuer;
  /** The attacker's own. */
  addresses: readonly string[];
}

/** The credentials that authenticate requests of the operation. A new kind of credential is tried everywhere. */
function credentialsFor(operation: Operation, { knowledge }: Means): string[] {
  const schemes = operation.security.flatMap((each) => Object.keys(each));
  const known = new Set(Object.values(PREFIXES_OF_SCHEMES));
  const accepted = schemes.map((scheme) => PREFIXES_OF_SCHEMES[scheme]);
  return knowledge.credentials.filter((secret) => {
    const prefix = prefixOf(secret);
    const isAccepted = accepted.includes(prefix) || !known.has(prefix);
    return isAccepted && !knowledge.isRefused(operation, secret);
  });
}

/** Whether the attacker knows a value for each required part of the path and of the body. */
export function isFeasible(operation: Operation, means: Means): boolean {
  const { security, parameters = [], operationId } = operation;
  if (security.length > 0 && credentialsFor(operation, means).length === 0) return false;
  const { knowledge } = means;
  if (knowledge.links.get(operationId)?.size) return true;
  // A provider sends its code to the path of a link.
  if (parameters.some(({ name }) => name === "code")) return false;
  const inPath = parameters.filter((each) => each.in === "path").map(({ schema }) => schema);
  const kinds = [...inPath, ...requiredFields(operation)].map((schema) =>
    kindOf(schema["example"]),
  );
  return kinds.every((kind) => kind === undefined || knowledge.all(kind).length > 0);
}

function requiredFields({ requestBody }: Operation): Node[] {
  const schema = requestBody?.content["application/json"]?.schema;
  if (!schema) return [];
  const { properties = {}, required = [] } = resolve(schema) as {
    properties?: Record<string, Node>;
    required?: string[];
  };
  return required.map((name) => properties[name] ?? {});
}

export async function newCall(operation: Operation, means: Means): Promise<PlannedRequest> {
  const { method, security } = operation;
  const { knowledge, random } = means;
  const candidates = security.length > 0 ? credentialsFor(operation, means) : [];
  const credential = random.chance(NEWEST_CHANCE) ? candidates.at(-1) : random.pick(candidates);
  const organizationId = organizationFor(means, credential);
  const from = { ...means, organizationId };
  const isRepeatable =
    (method === "POST" || method === "PATCH") && random.chance(IDEMPOTENT_CHANCE);
  return {
    method,
    path: linkFor(operation, means) ?? pathFor(operation, from),
    credential,
    body: await bodyFor(operation, from),
    headers: {
      ...(credential === undefined && knowledge.cookieHeader),
      ...(isRepeatable && credential && { "idempotency-key": "again" }),
    },
  };
}

interface Source extends Means {
  /** What the request is about, with a high probability. */
  organizationId: string | undefined;
}

/** Mostly that of the credential. */
function organizationFor({ knowledge, random }: Means, credential?: string): string | undefined {
  const own = credential && knowledge.organizationOf(credential);
  if (own && random.chance(SAME_ORGANIZATION_CHANCE)) return own;
  return random.pick(knowledge.all(ORGANIZATION));
}

function linkFor({ operationId }: Operation, { knowledge, random }: Means): string | undefined {
  const links = knowledge.links.get(operationId);
  const isTaken = links !== undefined && random.chance(KNOWN_LINK_CHANCE);
  const link = isTaken ? random.pick([...links]) : undefined;
  // A code of the identity provider works once.
  if (link?.includes("code=")) links?.delete(link);
  return link;
}

function knownOf(kind: string, { knowledge, random, organizationId }: Source): string | undefined {
  const within = knowledge.within(kind, organizationId);
  const all =
    within.length > 0 && random.chance(SAME_ORGANIZATION_CHANCE) ? within : knowledge.all(kind);
  return random.chance(NEWEST_CHANCE) ? all.at(-1) : random.pick(all);
}

function pathFor({ path, parameters = [] }: Operation, source: Source): string {
  const byName = new Map(parameters.map((each) => [each.name, each]));
  const filled = path.replaceAll(/\{(.+?)\}/g, (_, name: string) => {
    const schema = byName.get(name)?.schema ?? {};
    const kind = kindOf(schema["example"]);
    const value = kind === undefined ? schema["example"] : knownOf(kind, source);
    return encodeURIComponent(String(value));
  });
  const query = parameters
    .filter((each) => each.in === "query")
    .flatMap((each) => queryFor(each, source));
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

/** Of enums, and of texts that take a token. */
function queryFor({ name, schema }: Parameter, source: Source): string[] {
  const { random } = source;
  if (!random.chance(QUERY_CHANCE)) return [];
  const { items, enum: values } = resolve(schema) as { items?: Node; enum?: string[] };
  const ofItems = items && (resolve(items) as { enum?: string[] }).enum;
  const value =
    random.pick(values ?? ofItems ?? []) ?? (name === "invitation" && knownOf("lsi", source));
  return value ? [`${name}=${encodeURIComponent(value)}`] : [];
}

async function bodyFor(operation: Operation, source: Source): Promise<unknown> {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  if (!schema) return undefined;
  return objectFor(schema, source);
}

async function objectFor(schema: Node, source: Source): Promise<Node> {
  const {
    properties = {},
    required = [],
    example = {},
  } = resolve(schema) as {
    properties?: Record<string, Node>;
    required?: string[];
    example?: Node;
  };
  const { random } = source;
  const body: Node = {};
  for (const [name, property] of Object.entries(properties)) {
    const chance = name in example ? KEPT_OPTIONAL_CHANCE : OPTIONAL_CHANCE;
    if (!required.includes(name) && !random.chance(chance)) continue;
    const value = await valueFor(name, property, { ...source, example: example[name] });
    if (value !== undefined) body[name] = value;
  }
  return body;
}

interface Example {
  example: unknown;
}

async function valueFor(name: string, property: Node, source: Source & Example): Promise<unknown> {
  const { random, issuer, addresses } = source;
  const schema = { ...resolve(property), ...property } as Node & {
    items?: Node;
    enum?: unknown[];
    properties?: object;
    minimum?: number;
    maximum?: number;
  };
  const example = source.example ?? schema["example"];
  const kind = kindOf(schema["example"] ?? example);
  if (kind) return knownOf(kind, source);
  if (schema.enum) return random.pick(schema.enum);
  if (schema.items) return listFor(schema.items, source);
  if (name === "issuer") return ISSUER;
  if (name === "email") return random.pick(addresses);
  if (String(example).startsWith("eyJ"))
    return issuer.sign({ ...GITHUB_CLAIMS, ...conditionsOf() });
  if (schema["format"] === "date-time")
    return new Date(Date.now() + lifetime(random)).toISOString();
  if (schema.maximum !== undefined) return numberFor(schema, random);
  if (schema.properties) return objectFor(schema, source);
  if (name === "name") return `n-${random.below(2 ** 30)}`;
  return example;
}

/** One of the known IDs, or some values of an enum. */
function listFor(items: Node, source: Source & Example): unknown {
  const { random } = source;
  const resolved = resolve(items) as { enum?: unknown[]; example?: unknown };
  const kind = kindOf(items["example"] ?? resolved.example);
  if (kind) {
    const id = knownOf(kind, source);
    return id === undefined ? undefined : [id];
  }
  const { enum: values } = resolved;
  if (!values) return source.example;
  const chosen = values.filter(() => random.chance(0.5));
  return chosen.length > 0 ? chosen : values.slice(0, 1);
}

function numberFor(
  { minimum = 0, maximum = 0 }: Node & { minimum?: number; maximum?: number },
  random: Random,
) {
  return Math.min(maximum, minimum + (random.pick([0, 60, 3_600, 86_400]) ?? 0));
}

function lifetime(random: Random): number {
  return (random.pick(LIFETIMES_SECONDS) ?? 0) * SECOND_MS;
}

/** The claims that the example of a trust asks for, so that the attacker's tokens fit his trusts. */
function conditionsOf(): Node {
  const schema = openApi.components.schemas["CreateTrust"] as { example?: { conditions?: Node } };
  return { aud: AUDIENCE, ...schema.example?.conditions };
}
