import type { RouteConfig } from "@hono/zod-openapi";
import type { Operation } from "../http/operation.ts";
import type { ApiError } from "../lib/errors.ts";
import type { ProtectedPart } from "../lib/protected-parts.ts";
import type { ProjectRole } from "../lib/roles.ts";

/** What the OpenAPI document says of an operation, and the Worker does not need. */
export interface OperationDocument {
  /** One of those of the features. */
  tags: string[];
  summary: string;
  description?: string;
  /** The role that an API key needs: in the project, or `admin` in the organization. */
  role?: ProjectRole | "admin";
  /** The parts of protected environments that it changes, and what their rules depend on: its verb checks the need. */
  changes?: readonly ProtectedPart[];
  /** The resources that may be `not_found`, as the messages name them. */
  notFound?: readonly string[];
  /** Examples of the other errors, by a name that is unique in the document. */
  errors?: Readonly<Record<string, ApiError>>;
  /** The first is that of a response that is no error. */
  responses: RouteConfig["responses"];
}

/** Both parts of an operation. */
export interface DocumentedOperation {
  operation: Operation;
  document: OperationDocument;
}

/** By the ID of the operation. */
export type OperationDocuments = Readonly<Record<string, OperationDocument>>;

export interface Tag {
  name: string;
  description: string;
}

/** The part of the OpenAPI document that belongs to a feature. Only the build imports it. */
export interface FeatureDocument {
  tags?: readonly Tag[];
  operations: OperationDocuments;
}
