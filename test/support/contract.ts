import { dereference, initialBaseURI, type Schema, validate } from "@cfworker/json-schema";
import document from "../../dist/assets/openapi.json?raw";
import { describeApi } from "../../src/document/describe-api.ts";
import { loadOperations } from "../../src/document/operations.ts";
import { ERRORS } from "../../src/lib/errors.ts";
import { CROSS_ORIGIN } from "../../src/lib/header-errors.ts";
import type { ProtectedPart } from "../../src/lib/protected-parts.ts";

type Node = Record<string, unknown>;

interface DocumentedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, unknown>[];
  parameters?: (Node & { name: string; in: "path" | "query"; schema: Node })[];
  requestBody?: { required: boolean; content: Record<string, { schema: Node }> };
  responses: Record<string, Node>;
  "x-writes"?: boolean;
  "x-record"?: boolean;
  "x-polled"?: boolean;
  "x-scope"?: string;
  "x-protected"?: ProtectedPart[];
}

export interface Operation extends DocumentedOperation {
  method: string;
  path: string;
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, DocumentedOperation>>;
  webhooks: Record<string, { post: DocumentedOperation }>;
  components: {
    schemas: Record<string, Node>;
    responses: Record<string, Node>;
    headers: Record<string, { description: string }>;
  };
}

/** As the build has written it. */
export const published: Document = JSON.parse(document);

/** With the pages for browsers, which the published one leaves out, so that no operation escapes the tests. */
export const openApi: Document = JSON.parse(JSON.stringify(describeApi(await loadOperations())));

/** With their parameters resolved. */
export const operations: Operation[] = Object.entries(openApi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, { parameters, ...operation }]) => ({
    ...operation,
    ...(parameters && { parameters: parameters.map((each) => resolve(each) as typeof each) }),
    method: method.toUpperCase(),
    path,
  })),
);

/** Those of the published document. */
export const publishedOperations = operations.filter(
  ({ method, path }) => published.paths[path]?.[method.toLowerCase()] !== undefined,
);

/** As in a router, a literal segment takes precedence over a parameter. */
const patterns = operations
  .toSorted((a, b) => a.path.split("{").length - b.path.split("{").length)
  .map((operation) => {
    const pattern = new RegExp(`^${operation.path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`);
    return { operation, pattern };
  });

/** The declared operation for a request; undefined for an undeclared path or method. */
export function operationAt(method: string, path: string): Operation | undefined {
  const declared = method === "HEAD" ? "GET" : method;
  return patterns.find(
    ({ operation, pattern }) => operation.method === declared && pattern.test(path),
  )?.operation;
}

export function resolve(node: Node): Node {
  const reference = node["$ref"];
  if (typeof reference !== "string") return node;
  const [, , kind, name] = reference.split("/");
  const components: Record<string, Record<string, Node>> = openApi.components;
  const found = components[String(kind)]?.[String(name)];
  if (!found) throw new Error(`${reference} does not resolve`);
  return resolve(found);
}

export function exampleBody(operation: Operation): Node | undefined {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  // A copy: the test files of one isolate share the document.
  return schema && structuredClone(resolve(schema)["example"] as Node);
}

/** Whether the body is text. Then `exampleBody` is undefined. */
export function sendsText({ requestBody }: Operation): boolean {
  return "text/plain" in (requestBody?.content ?? {});
}

/** The bodies in the examples of an error reply. */
export function errorExamples({ responses }: Operation, status: number): Node[] {
  const content = contentOf(responses[String(status)])?.["application/json"];
  return Object.values(content?.examples ?? {}).map(({ value }) => value);
}

export function requiresFields(operation: Operation): boolean {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return schema !== undefined && Array.isArray(resolve(schema)["required"]);
}

/**
 * How a reply differs from the OpenAPI document; empty if it conforms. Stricter than the document:
 * a field that no schema declares is a violation.
 */
export function contractViolations(
  method: string,
  path: string,
  status: number,
  headers: Headers,
  body: string,
): string[] {
  const operation = operationAt(method, path);
  if (!operation && isPage(path, status, headers)) return pageViolations(headers);
  const declared = operation?.responses[String(status)];
  if (operation && !declared) return [`status ${status} is not declared`];
  const content = status >= 400 ? ERROR_CONTENT : contentOf(declared);
  const violations = [
    ...headerViolations(operation, status, headers, body),
    ...contentTypeViolations(content, headers.get("content-type")),
  ];
  if (status >= 400) return [...violations, ...errorViolations(status, body, method)];
  if (!content || method === "HEAD")
    return body === "" ? violations : [...violations, "there is a body"];
  const isJson = headers.get("content-type")?.startsWith("application/json");
  const schema = isJson ? content["application/json"]?.schema : undefined;
  return schema ? [...violations, ...mismatches(schema, JSON.parse(body))] : violations;
}

/** Whether it is a static page for people, or what belongs to one. They are no operations. */
function isPage(path: string, status: number, headers: Headers): boolean {
  if (!/^\/$|^\/(docs|console)(\/|$)/.test(path)) return false;
  return status < 400 || headers.get("content-type")?.startsWith("text/html") === true;
}

function pageViolations(headers: Headers): string[] {
  return headers.has("x-request-id") ? [] : ["no X-Request-Id"];
}

/** How the body of a webhook differs from the schema of its type. */
export function webhookViolations(payload: { type: string }): string[] {
  const body = openApi.webhooks[payload.type]?.post.requestBody;
  const schema = body?.content["application/json"]?.schema;
  return schema ? mismatches(schema, payload) : [`the type ${payload.type} is not declared`];
}

type Content = Record<string, { schema: Node; examples?: Record<string, { value: Node }> }>;

const ERROR_CONTENT: Content = {
  "application/json": { schema: { $ref: "#/components/schemas/Error" } },
};

function contentOf(reply: Node | undefined): Content | undefined {
  return resolve(reply ?? {})["content"] as Content | undefined;
}

function contentTypeViolations(content: Content | undefined, type: string | null): string[] {
  const essence = type?.split(";")[0];
  if (!content) return essence === undefined ? [] : [`content type ${type} without a body`];
  return essence !== undefined && essence in content ? [] : [`content type ${type}`];
}

const RATE_LIMIT = /^(x-)?ratelimit/i;
const OF_SAFE_WRITES = ["ETag", "Location", "Idempotency-Replayed"];
/** These may be sent before the key is known: per client address, or after an early failure. */
const SENT_WITHOUT_A_KNOWN_KEY = [408, 429, 500];

/** A success has every declared header. A reply to a known key has the rate-limit headers. */
function headerViolations(
  operation: Operation | undefined,
  status: number,
  headers: Headers,
  body: string,
): string[] {
  const declared = Object.keys(
    resolve(operation?.responses[String(status)] ?? {})["headers"] ?? {},
  );
  const hasKnownKey =
    !SENT_WITHOUT_A_KNOWN_KEY.includes(status) && !body.includes(CROSS_ORIGIN.message);
  const needed = declared
    .filter((name) => status < 400 || (hasKnownKey && RATE_LIMIT.test(name)))
    .filter((name) => name !== "Idempotency-Replayed")
    .filter((name) => name !== "X-D1-Bookmark" || operation?.operationId !== "appendToLog");
  if (status === 429) needed.push("Retry-After");
  const missing = [...needed, "X-Request-Id"].filter((name) => !headers.has(name));
  const hasLimits = declared.some((name) => RATE_LIMIT.test(name));
  const unexpected = [
    ...OF_SAFE_WRITES.filter((name) => !declared.includes(name)),
    ...(operation ? ["Allow"] : []),
    ...(operation && !hasLimits ? [...headers.keys()].filter((name) => RATE_LIMIT.test(name)) : []),
  ];
  const surplus = unexpected.filter((name) => headers.has(name));
  return [...missing.map((name) => `no ${name}`), ...surplus.map((name) => `there is ${name}`)];
}

function errorViolations(status: number, body: string, method: string): string[] {
  if (method === "HEAD") return [];
  const value = JSON.parse(body) as { code: keyof typeof ERRORS };
  const expected = ERRORS[value.code]?.status;
  const violations = expected === status ? [] : [`code ${value.code} came with status ${status}`];
  return [...violations, ...mismatches({ $ref: "#/components/schemas/Error" }, value)];
}

const closedComponents = {
  schemas: Object.fromEntries(
    Object.entries(openApi.components.schemas).map(([name, schema]) => [name, closeNested(schema)]),
  ),
};

/** Read once: reading all components takes longer than most requests. */
const readComponents = dereference({ components: closedComponents } as Schema);
// The place of each schema that refers to them.
delete readComponents[initialBaseURI.href];

interface Rules {
  schema: Schema;
  lookup: typeof readComponents;
}

const rulesBySchema = new Map<string, Rules>();

export function mismatches(schema: Node, value: unknown): string[] {
  const rules = rulesOf(schema);
  const { errors } = validate(value, rules.schema, "2020-12", rules.lookup, false);
  return errors.map((error) => `${error.instanceLocation}: ${error.error}`);
}

function rulesOf(schema: Node): Rules {
  const key = JSON.stringify(schema);
  const found = rulesBySchema.get(key);
  if (found) return found;
  const closed = close(schema) as Schema;
  const rules = { schema: closed, lookup: dereference(closed, Object.create(readComponents)) };
  rulesBySchema.set(key, rules);
  return rules;
}

/** Forbids properties that the schema does not declare. */
function close(schema: Node): Node {
  if (!schema["$ref"] && !schema["allOf"] && !schema["properties"]) return closeNested(schema);
  return { allOf: [closeNested(schema)], unevaluatedProperties: false };
}

function closeNested(schema: Node): Node {
  // The validator treats an example with an `id` as a schema with that address.
  const { example: _, ...rules } = schema;
  const { properties, items, allOf, anyOf } = schema as {
    properties?: Record<string, Node>;
    items?: Node;
    allOf?: Node[];
    anyOf?: Node[];
  };
  return {
    ...rules,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, close(property)]),
      ),
    }),
    ...(items && { items: close(items) }),
    ...(allOf && { allOf: allOf.map(closeNested) }),
    ...(anyOf && { anyOf: anyOf.map(close) }),
  };
}
