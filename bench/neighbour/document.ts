import { readDocument } from "../../scripts/lib/document.ts";

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  maximum?: number;
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  example?: unknown;
}

export interface Operation {
  operationId: string;
  method: string;
  path: string;
  /** Empty for an operation without a credential. */
  credentials: readonly string[];
  takesPages: boolean;
  body: Schema | undefined;
}

interface DocumentedOperation {
  operationId: string;
  security?: readonly object[];
  parameters?: readonly { $ref?: string; name?: string }[];
  requestBody?: { content: Readonly<Record<string, { schema: Schema }>> };
}

interface Document {
  paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

const document: unknown = await readDocument();

/** What a reference of the OpenAPI document refers to, or the node itself. */
export function resolve<Node extends { $ref?: string }>(node: Node): Node {
  if (node.$ref === undefined) return node;
  const [, ...names] = node.$ref.split("/");
  const found = names.reduce((at, name) => (at as Record<string, unknown>)[name], document);
  return resolve(found as Node);
}

/** Of the OpenAPI document. */
export function readOperations(): Operation[] {
  return Object.entries((document as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path,
      credentials: (operation.security ?? []).flatMap((each) => Object.keys(each)),
      takesPages: (operation.parameters ?? []).some((each) => resolve(each).name === "limit"),
      body: operation.requestBody?.content["application/json"]?.schema,
    })),
  );
}

export function parametersOf({ path }: Pick<Operation, "path">): string[] {
  return [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => String(name));
}

export function operationOf(id: string): Operation {
  const found = readOperations().find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`There is no operation ${id}`);
  return found;
}
