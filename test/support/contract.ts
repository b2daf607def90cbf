import { type Schema, Validator } from "@cfworker/json-schema";
import { createApp } from "../../src/app.ts";
import { ERRORS } from "../../src/lib/errors.ts";

type Node = Record<string, unknown>;

interface DocumentedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, unknown>[];
  parameters?: { name: string; in: "path" | "query"; schema: Node }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Node }> };
  responses: Record<string, Node>;
  "x-writes"?: boolean;
}

/** One operation of the OpenAPI document. */
export interface Operation extends DocumentedOperation {
  method: string;
  path: string;
}

// Through JSON, as a reader of /openapi.json gets it.
export const openApi = JSON.parse(JSON.stringify(createApp().describe())) as {
  openapi: string;
  paths: Record<string, Record<string, DocumentedOperation>>;
  webhooks: Record<string, { post: DocumentedOperation }>;
  components: { schemas: Record<string, Node>; responses: Record<string, Node> };
};

export const operations: Operation[] = Object.entries(openApi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
  })),
);

/** The operation that a request meets, or undefined for a path or method that nobody declared. */
export function operationAt(method: string, path: string): Operation | undefined {
  const matches = operations.filter(
    (operation) =>
      operation.method === (method === "HEAD" ? "GET" : method) &&
      new RegExp(`^${operation.path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(path),
  );
  // As in a router, a literal segment wins over a parameter.
  return matches.toSorted((a, b) => a.path.split("{").length - b.path.split("{").length)[0];
}

/** Follows a `$ref` into the components. */
export function resolve(node: Node): Node {
  const reference = node["$ref"];
  if (typeof reference !== "string") return node;
  const [, , kind, name] = reference.split("/");
  const components: Record<string, Record<string, Node>> = openApi.components;
  const found = components[String(kind)]?.[String(name)];
  if (!found) throw new Error(`${reference} leads nowhere`);
  return resolve(found);
}

/** The example of an operation's JSON body. */
export function exampleBody(operation: Operation): Node | undefined {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return schema && (resolve(schema)["example"] as Node);
}

/** Whether an operation's body has fields that it cannot do without. */
export function requiresFields(operation: Operation): boolean {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return schema !== undefined && Array.isArray(resolve(schema)["required"]);
}

/**
 * What is wrong with a reply by the contract, in words; nothing if it is as declared. Stricter than
 * the document for readers: a field that no schema declares is wrong too.
 */
export function complaints(
  method: string,
  path: string,
  status: number,
  headers: Headers,
  body: string,
): string[] {
  const operation = operationAt(method, path);
  const declared = operation?.responses[String(status)];
  if (operation && !declared) return [`status ${status} is not declared`];
  const content = status >= 400 ? ERROR_CONTENT : contentOf(declared);
  const wrong = [
    ...complaintsOfHeaders(operation, status, headers),
    ...complaintsOfType(content, headers.get("content-type")),
  ];
  if (status >= 400) return [...wrong, ...complaintsOfError(status, body, method)];
  if (!content || method === "HEAD") return body === "" ? wrong : [...wrong, "there is a body"];
  const schema = content["application/json"]?.schema;
  return schema ? [...wrong, ...mismatches(schema, JSON.parse(body))] : wrong;
}

/** What is wrong with the body of a webhook, by what the document says of its type. */
export function complaintsOfWebhook(payload: { type: string }): string[] {
  const body = openApi.webhooks[payload.type]?.post.requestBody;
  const schema = body?.content["application/json"]?.schema;
  return schema ? mismatches(schema, payload) : [`the type ${payload.type} is not declared`];
}

type Content = Record<string, { schema: Node }>;

const ERROR_CONTENT: Content = {
  "application/json": { schema: { $ref: "#/components/schemas/Error" } },
};

function contentOf(reply: Node | undefined): Content | undefined {
  return resolve(reply ?? {})["content"] as Content | undefined;
}

function complaintsOfType(content: Content | undefined, type: string | null): string[] {
  const essence = type?.split(";")[0];
  if (!content) return essence === undefined ? [] : [`content type ${type} without a body`];
  return essence !== undefined && essence in content ? [] : [`content type ${type}`];
}

const RATE_LIMIT = /^(x-)?ratelimit/i;
/** Whether a key was known is not told by these: a stranger's address, or a failure before it. */
const TO_ANYBODY = [401, 408, 429, 500];

/**
 * A success has every header that it declares, an answer to a known key tells of its rate limits,
 * and one that no key is needed for does not.
 */
function complaintsOfHeaders(
  operation: Operation | undefined,
  status: number,
  headers: Headers,
): string[] {
  const declared = Object.keys(
    resolve(operation?.responses[String(status)] ?? {})["headers"] ?? {},
  );
  const isOpen =
    operation && !operation.security.some((each) => "api_key" in each || "runner_token" in each);
  const isSure = operation && !isOpen && !TO_ANYBODY.includes(status);
  const needed = declared.filter((name) => status < 400 || (isSure && RATE_LIMIT.test(name)));
  if (status === 429) needed.push("Retry-After");
  const missing = [...needed, "X-Request-Id"].filter((name) => !headers.has(name));
  const surplus = isOpen ? [...headers.keys()].filter((name) => RATE_LIMIT.test(name)) : [];
  return [...missing.map((name) => `no ${name}`), ...surplus.map((name) => `there is ${name}`)];
}

function complaintsOfError(status: number, body: string, method: string): string[] {
  if (method === "HEAD") return [];
  const value = JSON.parse(body) as { code: keyof typeof ERRORS };
  const expected = ERRORS[value.code]?.status;
  const wrong = expected === status ? [] : [`code ${value.code} came with status ${status}`];
  return [...wrong, ...mismatches({ $ref: "#/components/schemas/Error" }, value)];
}

const sealedComponents = {
  schemas: Object.fromEntries(
    Object.entries(openApi.components.schemas).map(([name, schema]) => [name, sealInside(schema)]),
  ),
};

function mismatches(schema: Node, value: unknown): string[] {
  const root = { ...seal(schema), components: sealedComponents } as Schema;
  const { errors } = new Validator(root, "2020-12", false).validate(value);
  return errors.map((error) => `${error.instanceLocation}: ${error.error}`);
}

/** Where a value stands for itself, it has what the schema declares and no more. */
function seal(schema: Node): Node {
  if (!schema["$ref"] && !schema["allOf"] && !schema["properties"]) return sealInside(schema);
  return { allOf: [sealInside(schema)], unevaluatedProperties: false };
}

function sealInside(schema: Node): Node {
  // The validator would take an example with an `id` for a schema of that address.
  const { example: _, ...rules } = schema;
  const { properties, items, allOf } = schema as {
    properties?: Record<string, Node>;
    items?: Node;
    allOf?: Node[];
  };
  return {
    ...rules,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, seal(property)]),
      ),
    }),
    ...(items && { items: seal(items) }),
    ...(allOf && { allOf: allOf.map(sealInside) }),
  };
}
