import type { RouteConfig } from "@hono/zod-openapi";
import type { ApiError } from "../lib/errors.ts";
import type { ProtectedPart } from "../lib/protected-parts.ts";
import type { ProjectRole } from "../lib/roles.ts";
import type { Scope } from "../lib/scopes.ts";
import type { PolicyName } from "../rate-limits/policies.ts";

/** Who may call an operation. */
export type Access =
  | {
      /** What a narrowed API key needs. Null: nothing, so that every key may call it. */
      scope: Scope | null;
      /** The role that the caller needs: in the project, or `admin` in the organization. Its verb checks it. */
      role?: ProjectRole | "admin";
      /** Whether a runner token opens it, too. */
      runnerToken?: true;
    }
  | "session"
  | "runner"
  | "bootstrap"
  | "public";

/** What an operation declares beside what `createRoute` takes. */
export interface Declared {
  method: RouteConfig["method"];
  /** The path as the OpenAPI document writes it: `/v1/projects/{project_id}`. */
  path: string;
  operationId: string;
  /**
   * A page for browsers, what such a page sends, or what monitoring reads. The OpenAPI document, which is the contract of
   * the API, leaves it out.
   */
  page?: true;
  access: Access;
  /** Default: the policy of the credential. */
  policy?: PolicyName;
  /**
   * Not refused because the organization has used its budget of database work: it ends what causes work.
   * Every DELETE is like that. Those of callers are refused once they cost much and change little.
   */
  exemptFromBudget?: true;
  /** For a GET that writes: it uses the primary, and waits for the rate limiter. */
  writes?: true;
  /**
   * For an operation on one resource: its response has an `ETag`, a GET accepts `If-None-Match`, and a PUT,
   * PATCH or DELETE accepts `If-Match`.
   */
  resource?: true;
  /** For a GET of several resources that clients repeat: its response has a weak `ETag`, for `If-None-Match`. */
  polled?: true;
  /** The parts of protected environments that it changes, and what their rules depend on: its verb checks the need. */
  changes?: readonly ProtectedPart[];
  /** The resources that may be `not_found`, as the messages name them. */
  notFound?: readonly string[];
  /** Examples of the other errors, by a name that is unique in the document. */
  errors?: Readonly<Record<string, ApiError>>;
  /** The first is that of a response that is no error. */
  responses: RouteConfig["responses"];
}

export type Credential = "api_key" | "session" | "runner_token" | "bootstrap_token";

/** Any one of these gives access; none, and the operation is public. */
export function credentialsOf(access: Access): readonly Credential[] {
  if (typeof access === "object") {
    return ["api_key", "session", ...(access.runnerToken ? (["runner_token"] as const) : [])];
  }
  return CREDENTIALS[access];
}

const CREDENTIALS = {
  session: ["session"],
  runner: ["runner_token"],
  bootstrap: ["bootstrap_token"],
  public: [],
} as const;
