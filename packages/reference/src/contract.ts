import type { OpenApiDocument } from "../../../src/document/describe-api.ts";
import { POLICY_EXTENSION, SCOPE_EXTENSION } from "../../../src/document/route.ts";
import { type Schema, Schemas } from "./schemas.ts";

export interface Contract {
  title: string;
  description: string;
  credentials: Credential[];
  headers: { name: string; description: string }[];
  errors: { status: string; code: string; meaning: string }[];
  tags: Tag[];
  webhooks: { description: string; webhooks: Webhook[] };
  schemas: Schemas;
}

export interface Credential {
  id: string;
  header(value: string): string;
  /** Whether a browser sends it, and a request that changes something needs `Sec-Fetch-Site`. */
  isCookie: boolean;
  description: string;
}

export interface Tag {
  name: string;
  description: string;
  operations: Operation[];
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  credential: Credential | undefined;
  /** Undefined if the operation needs no key. */
  policy: string | undefined;
  /** What a narrowed API key needs, if anything. */
  scope: string | undefined;
  parameters: Parameter[];
  body: { schema: Schema; required: boolean } | undefined;
  /** Whether the body is text. */
  sendsText: boolean;
  replies: Reply[];
  errors: OperationError[];
}

/** An error that an operation can return. */
export interface OperationError {
  status: string;
  code: string;
  message: string;
}

export interface Webhook {
  type: string;
  summary: string;
  description: string;
  headers: Parameter[];
  body: Schema;
  replies: Reply[];
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

export interface Reply {
  status: string;
  description: string;
  mediaType: string | undefined;
  /** Whether the response may also be a stream of events. */
  isStream: boolean;
  schema: Schema | undefined;
}

interface DocumentedOperation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content?: Content };
  responses?: Record<string, DocumentedReply>;
  [POLICY_EXTENSION]?: string;
  [SCOPE_EXTENSION]?: string;
}

interface DocumentedReply {
  $ref?: string;
  description?: string;
  content?: Content;
}

/** This tag has no operations: its description introduces the webhooks. */
const WEBHOOKS_TAG = "Webhooks";

type Content = Record<string, { schema?: Schema; examples?: Record<string, Example> }>;

interface Example {
  value: { code: string; message: string };
}

type Components = NonNullable<OpenApiDocument["components"]>;

export function readContract(document: OpenApiDocument): Contract {
  const { info, tags = [], paths = {}, webhooks = {}, components = {} } = document;
  const credentials = readCredentials(components.securitySchemes ?? {});
  const sections: Tag[] = tags.map(({ name, description = "" }) => {
    return { name, description, operations: [] };
  });
  for (const [path, item] of Object.entries(paths)) {
    const operations: [string, DocumentedOperation][] = Object.entries(item);
    for (const [method, documented] of operations) {
      const section = sections.find(({ name }) => documented.tags?.includes(name));
      const parameters = documented.parameters?.map((each) => resolveParameter(each, components));
      const responses = resolveReplies(documented.responses, components);
      const resolved = { ...documented, responses, ...(parameters && { parameters }) };
      section?.operations.push(readOperation(method, path, resolved, credentials));
    }
  }
  return {
    title: info.title,
    description: info.description ?? "",
    credentials,
    headers: Object.entries(components.headers ?? {}).map(([name, { description = "" }]) => {
      return { name, description };
    }),
    errors: readErrors(components.responses ?? {}),
    tags: sections.filter(({ operations }) => operations.length > 0),
    webhooks: {
      description: tags.find(({ name }) => name === WEBHOOKS_TAG)?.description ?? "",
      webhooks: Object.entries(webhooks).flatMap(readWebhook),
    },
    schemas: new Schemas(components.schemas ?? {}, JSON.stringify(document)),
  };
}

function resolveParameter(
  parameter: Parameter & { $ref?: string },
  { parameters = {} }: Components,
): Parameter {
  const shared = parameters as Record<string, Parameter>;
  return shared[parameter.$ref?.split("/").at(-1) ?? ""] ?? parameter;
}

function resolveReplies(
  replies: DocumentedOperation["responses"] = {},
  { responses = {} }: Components,
): Record<string, DocumentedReply> {
  const shared = responses as Record<string, DocumentedReply>;
  const resolved = Object.entries(replies).map(([status, reply]) => {
    return [status, shared[reply.$ref?.split("/").at(-1) ?? ""] ?? reply] as const;
  });
  return Object.fromEntries(resolved);
}

function readOperation(
  method: string,
  path: string,
  documented: DocumentedOperation,
  credentials: readonly Credential[],
): Operation {
  const { operationId = `${method} ${path}`, summary = operationId, description = "" } = documented;
  const { security = [], parameters = [], requestBody } = documented;
  const credential = credentials.find(({ id }) => security.some((each) => id in each));
  const schema = requestBody?.content?.["application/json"]?.schema;
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    credential,
    policy: documented[POLICY_EXTENSION] ?? (credential?.id === "api_key" ? "default" : undefined),
    scope: documented[SCOPE_EXTENSION],
    parameters,
    body: schema && { schema, required: requestBody?.required ?? false },
    sendsText: requestBody?.content?.["text/plain"] !== undefined,
    replies: readReplies(documented.responses).filter(({ status }) => /^[23]/.test(status)),
    errors: readOperationErrors(documented.responses),
  };
}

function readWebhook([type, item]: [string, { post?: unknown }]): Webhook[] {
  const documented = (item.post ?? {}) as DocumentedOperation;
  const body = documented.requestBody?.content?.["application/json"]?.schema;
  if (!body) return [];
  const { summary = type, description = "", parameters = [], responses = {} } = documented;
  const headers = parameters.filter((each) => each.in === "header");
  return [{ type, summary, description, headers, body, replies: readReplies(responses) }];
}

function readReplies(responses: DocumentedOperation["responses"] = {}): Reply[] {
  return Object.entries(responses).map(([status, { description = "", content = {} }]) => {
    const [[mediaType, { schema } = {}] = []] = Object.entries(content);
    const isStream = "text/event-stream" in content;
    return { status, description, mediaType, isStream, schema };
  });
}

function readOperationErrors(responses: DocumentedOperation["responses"] = {}): OperationError[] {
  return Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.values(content["application/json"]?.examples ?? {}).map(({ value }) => {
      return { status, code: value.code, message: value.message };
    }),
  );
}

type DocumentedScheme = { name?: string; in?: string; scheme?: string; description?: string };

function readCredentials(schemes: Record<string, DocumentedScheme>): Credential[] {
  return Object.entries(schemes).map(([id, { name, in: location, description = "" }]) => {
    const isCookie = location === "cookie";
    const header = (value: string) => {
      if (isCookie) return `cookie: ${name}=${value}`;
      return name ? `${name}: ${value}` : `authorization: Bearer ${value}`;
    };
    return { id, description, header, isCookie };
  });
}

/**
 * The descriptions of error replies list their codes: "`conflict`: The request …". Many replies have
 * the same code.
 */
function readErrors(responses: Record<string, { description?: string }>) {
  const errors = new Map<string, Contract["errors"][number]>();
  for (const [name, { description = "" }] of Object.entries(responses)) {
    const [, status = ""] = /^Error(\d+)/.exec(name) ?? [];
    for (const [, code = "", meaning = ""] of description.matchAll(
      /`(\w+)`: (.+?)(?=\s`\w+`: |$)/g,
    )) {
      errors.set(code, { status, code, meaning });
    }
  }
  return [...errors.values()];
}
