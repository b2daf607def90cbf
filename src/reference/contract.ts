import type { OpenApiDocument } from "../http/openapi.ts";
import { type Schema, Schemas } from "./schemas.ts";

/** What the page tells of an OpenAPI document, in the order in which it tells it. */
export interface Contract {
  title: string;
  description: string;
  credentials: Credential[];
  headers: { name: string; description: string }[];
  errors: { status: string; code: string; meaning: string }[];
  tags: Tag[];
  /** What the service sends of itself. */
  webhooks: { description: string; webhooks: Webhook[] };
  schemas: Schemas;
}

export interface Credential {
  id: string;
  /** How to send it, where `value` stands for it. */
  header(value: string): string;
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
  /** The policy that limits its rate for one key; none where no key is needed. */
  policy: string | undefined;
  parameters: Parameter[];
  body: { schema: Schema; required: boolean } | undefined;
  replies: Reply[];
}

/** Something that is sent to whoever wants to know. */
export interface Webhook {
  type: string;
  summary: string;
  description: string;
  headers: Parameter[];
  body: Schema;
  answers: Reply[];
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
  schema: Schema | undefined;
}

/** An operation as the document has it, as far as the page shows it. */
interface DocumentedOperation {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content?: Content };
  responses?: Record<string, { description?: string; content?: Content }>;
  "x-ratelimit-policy"?: string;
}

/** The tag of what is no operation of the API. */
const WEBHOOKS = "Webhooks";

type Content = Record<string, { schema?: Schema }>;

/** Reads the document into what the page shows. */
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
      section?.operations.push(readOperation(method, path, documented, credentials));
    }
  }
  return {
    title: info.title,
    description: info.description ?? "",
    credentials,
    headers: Object.entries(components.headers ?? {}).map(([name, { description = "" }]) => {
      return { name, description };
    }),
    errors: Object.entries(components.responses ?? {}).flatMap(readErrors),
    tags: sections.filter(({ operations }) => operations.length > 0),
    webhooks: {
      description: tags.find(({ name }) => name === WEBHOOKS)?.description ?? "",
      webhooks: Object.entries(webhooks).flatMap(readWebhook),
    },
    schemas: new Schemas(components.schemas ?? {}, JSON.stringify(document)),
  };
}

function readOperation(
  method: string,
  path: string,
  documented: DocumentedOperation,
  credentials: readonly Credential[],
): Operation {
  const { operationId = `${method} ${path}`, summary = operationId, description = "" } = documented;
  const { security = [], parameters = [], requestBody } = documented;
  const credential = credentials.find(({ id }) => security.some((one) => id in one));
  const schema = requestBody?.content?.["application/json"]?.schema;
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    credential,
    policy:
      documented["x-ratelimit-policy"] ?? (credential?.id === "api_key" ? "default" : undefined),
    parameters,
    body: schema && { schema, required: requestBody?.required ?? false },
    replies: readReplies(documented.responses).filter(({ status }) => /^[23]/.test(status)),
  };
}

function readWebhook([type, item]: [string, { post?: unknown }]): Webhook[] {
  const documented = (item.post ?? {}) as DocumentedOperation;
  const body = documented.requestBody?.content?.["application/json"]?.schema;
  if (!body) return [];
  const { summary = type, description = "", parameters = [], responses = {} } = documented;
  const headers = parameters.filter((each) => each.in === "header");
  return [{ type, summary, description, headers, body, answers: readReplies(responses) }];
}

function readReplies(responses: DocumentedOperation["responses"] = {}): Reply[] {
  return Object.entries(responses).map(([status, { description = "", content = {} }]) => {
    const [[mediaType, { schema } = {}] = []] = Object.entries(content);
    return { status, description, mediaType, schema };
  });
}

type DocumentedScheme = { name?: string; scheme?: string; description?: string };

function readCredentials(schemes: Record<string, DocumentedScheme>): Credential[] {
  return Object.entries(schemes).map(([id, { name, description = "" }]) => {
    const header = (value: string) =>
      name ? `${name}: ${value}` : `authorization: Bearer ${value}`;
    return { id, description, header };
  });
}

/** The description of an error's reply names each of its codes: "`conflict`: The request …". */
function readErrors([name, reply]: [string, { description?: string }]) {
  const told = (reply.description ?? "").matchAll(/`(\w+)`: (.+?)(?=\s`\w+`: |$)/g);
  return [...told].map(([, code = "", meaning = ""]) => {
    return { status: name.replace("Error", ""), code, meaning };
  });
}
