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
  const wrong = headers.has("x-request-id") ? [] : ["no X-Request-Id"];
  if (status >= 400) return [...wrong, ...complaintsOfError(status, body, method)];
  const content = resolve(declared ?? {})["content"] as
    | Record<string, { schema: Node }>
    | undefined;
  if (!content || method === "HEAD") return body === "" ? wrong : [...wrong, "there is a body"];
  const schema = content["application/json"]?.schema;
  return schema ? [...wrong, ...mismatches(schema, JSON.parse(body))] : wrong;
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
  const { properties, items, allOf } = schema as {
    properties?: Record<string, Node>;
    items?: Node;
    allOf?: Node[];
  };
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, seal(property)]),
      ),
    }),
    ...(items && { items: seal(items) }),
    ...(allOf && { allOf: allOf.map(sealInside) }),
  };
}
