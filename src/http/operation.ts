import type { RouteConfig } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { Scope } from "../lib/scopes.ts";
import { POLICIES, type PolicyName, WINDOW_MS } from "../rate-limits/policies.ts";

/** An operation that accepts an API key accepts a session, too. */
export type Credential = "api_key" | "session" | "runner_token" | "bootstrap_token";

/** What the Worker needs of an operation. The rest is in the `document.ts` of its feature. */
export interface Operation {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** As in the OpenAPI document: `/v1/projects/{project_id}`. */
  path: string;
  operationId: string;
  /** Any one of these gives access; `[]` makes the operation public. Default: an API key. */
  credentials?: readonly Credential[];
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
  /** What a narrowed API key needs. Null: nothing, so that every key may call it. */
  scope?: Scope | null;
  /** The status of a response that is no error. Default: 200. */
  status?: 200 | 201 | 204 | 303;
  /** The number of writes by callers, of a `resource` without a `version`. */
  version?: (row: never) => number;
  /** The resource that the verb returns, as the response shows it to the caller. */
  present?: (row: never, ctx: never) => object;
  /** The secrets of a result `{ row, ...secrets }`, beside the resource `row`. */
  presentSecrets?: (result: never) => object;
  /** Each resource of the page that the verb returns, as the response shows it to the caller. */
  presentEach?: (row: never, ctx: never) => object;
  /** For an operation that creates a resource: the operation that reads it. */
  location?: { path: string };
  /** For a response that is a page of HTML. */
  page?: true;
  /** Called when the operation is requested first, because schemas are expensive to build. */
  request?: () => NonNullable<RouteConfig["request"]>;
  middleware?: MiddlewareHandler[];
}

/** The `version` of a resource that no caller changes. */
export const unchanging = () => 1;

/** Without this, inference for the type parameter accepts misspelled options. */
type NoOtherKeys<Config> = Record<Exclude<keyof Config, keyof Operation>, never>;

/** Every operation that accepts an API key declares a scope, and no other. */
type DeclaresScope<Config extends Operation> = Config extends {
  credentials: readonly Exclude<Credential, "api_key">[];
}
  ? { scope?: never }
  : { scope: Scope | null };

export function operation<const Config extends Operation>(
  config: Config & NoOtherKeys<Config> & DeclaresScope<Config>,
): Config {
  return config;
}

export function credentialsOf({ credentials = ["api_key"] }: Operation): readonly Credential[] {
  return credentials.flatMap((each) => (each === "api_key" ? ["api_key", "session"] : [each]));
}

/** The rate limit policies of requests with an API key, as the API presents them. */
export const API_KEY_POLICIES = presentPolicies(["default", "polling", "reveal"]);
export const SESSION_POLICIES = presentPolicies(["console", "reveal"]);

function presentPolicies(names: readonly PolicyName[]) {
  return names.map((name) => {
    return { name, limit: POLICIES[name].limit, window_seconds: WINDOW_MS / 1000 };
  });
}
