import { type Operation, openApi, resolve } from "../support/contract.ts";

export type Node = Record<string, unknown>;

const ID = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
/** Every credential and every token of a link, whatever its prefix. */
export const SECRET = /\bls[a-z]_[1-9A-HJ-NP-Za-km-z]{22}_[0-9A-Za-z]{49}/g;
/** The words of the document for a secret in a response, and an example of one. */
const SHOWS_SECRET =
  /shown again|shown only once|set-cookie|'s cookie|ls[a-z]_[1-9A-HJ-NP-Za-km-z]{22}_/i;
/** Pages without a session, and the return from Slack, which is not configured. */
const NEVER_SECRET = /^\/($|docs|openapi|v1\/slack)/;
const SUCCESS = /^[23]/;
const DEPTH = 8;

export function isId(text: string): boolean {
  return ID.test(text);
}

/**
 * What a value of the document stands for: its example. The document has one example for the IDs of
 * each type, and secrets tell their type by their prefix.
 */
export function kindOf(example: unknown): string | undefined {
  if (typeof example !== "string") return undefined;
  if (isId(example)) return example;
  const [secret] = example.match(SECRET) ?? [];
  return secret && prefixOf(secret);
}

export function prefixOf(secret: string): string {
  return secret.slice(0, 3);
}

/** The kind of the IDs of organizations. */
export const ORGANIZATION = kindOfParameter("OrgId");

function kindOfParameter(name: string): string {
  const { parameters = {} } = openApi.components as { parameters?: Record<string, Node> };
  const schema = parameters[name]?.["schema"] as Node | undefined;
  const kind = kindOf(schema?.["example"]);
  if (kind === undefined) throw new Error(`The parameter ${name} has no example`);
  return kind;
}

/** The schema of the JSON of a success. */
export function successOf({ responses }: Pick<Operation, "responses">): Node {
  const [success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  return contentOf(responses[String(success)])["application/json"]?.schema ?? {};
}

/** Whether a success shows a credential or a link, or sets a cookie. Redirects and pages of buttons may. */
export function returnsSecret({ path, method, security, ...operation }: Operation): boolean {
  if (NEVER_SECRET.test(path) || method === "DELETE") return false;
  if (security.some((each) => "bootstrap_token" in each)) return false;
  const { description = "", responses } = operation;
  const replies = Object.entries(responses).filter(([status]) => SUCCESS.test(status));
  const isPage = replies.some(
    ([status, each]) => status === "303" || (method === "POST" && "text/html" in contentOf(each)),
  );
  const described = replies.map(([, each]) => resolve(each)["description"]);
  const text = JSON.stringify([description, described, expand(successOf(operation))]);
  return isPage || SHOWS_SECRET.test(text);
}

function contentOf(reply: Node | undefined): Record<string, { schema?: Node }> {
  return (resolve(reply ?? {})["content"] ?? {}) as Record<string, { schema?: Node }>;
}

/** With its references resolved. */
function expand(value: unknown, depth = DEPTH): unknown {
  if (value === null || typeof value !== "object" || depth === 0) return value;
  if (Array.isArray(value)) return value.map((each) => expand(each, depth - 1));
  const node = value as Node;
  const { $ref, ...siblings } = node;
  const whole = $ref === undefined ? node : { ...resolve(node), ...siblings };
  return Object.fromEntries(
    Object.entries(whole).map(([name, each]) => [name, expand(each, depth - 1)]),
  );
}

/** The IDs in a value, each with its kind. */
export function* identifiersIn(schema: Node, value: unknown): Generator<[string, string]> {
  if (typeof value === "string") {
    const kind = kindOf(schema["example"] ?? resolve(schema)["example"]);
    if (kind && isId(value)) yield [kind, value];
    return;
  }
  if (value === null || typeof value !== "object") return;
  const { properties, items, allOf, anyOf, oneOf } = resolve(schema) as {
    properties?: Record<string, Node>;
    items?: Node;
    allOf?: Node[];
    anyOf?: Node[];
    oneOf?: Node[];
  };
  for (const part of [allOf, anyOf, oneOf].flatMap((each) => each ?? [])) {
    yield* identifiersIn(part, value);
  }
  if (Array.isArray(value)) {
    for (const item of value) yield* identifiersIn(items ?? {}, item);
    return;
  }
  for (const [name, property] of Object.entries(properties ?? {})) {
    yield* identifiersIn(property, (value as Node)[name]);
  }
}
