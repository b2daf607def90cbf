import type { RouteConfig } from "@hono/zod-openapi";
import type { ApiError } from "../lib/errors.ts";
import type { ProjectRole } from "../lib/roles.ts";
import { SCOPES, type Scope } from "../lib/scopes.ts";
import { POLICIES, type PolicyName, WINDOW_MS } from "../rate-limits/policies.ts";

export const POLICY_EXTENSION = "x-ratelimit-policy";
const WRITES_EXTENSION = "x-writes";
export const SCOPE_EXTENSION = "x-scope";
const RECORD_EXTENSION = "x-record";
const POLLED_EXTENSION = "x-polled";

/** An operation that accepts an API key accepts a session, too. */
export type Credential = "api_key" | "session" | "runner_token" | "bootstrap_token";

/** A role in the project, or `admin` in the organization. */
type NeededRole = ProjectRole | "admin";

/** What an operation declares of its errors. The rest follows from its other parts. */
export interface ErrorOptions {
  /** The role that an API key needs. */
  role?: NeededRole;
  /** The records that may be `not_found`, as the messages name them. */
  notFound?: readonly string[];
  /** Examples of the other errors, by a name that is unique in the document. */
  errors?: Readonly<Record<string, ApiError>>;
}

interface OperationOptions extends ErrorOptions {
  /** Any one of these gives access; `[]` makes the operation public. Default: an API key. */
  credentials?: readonly Credential[];
  /** Default: the policy of the credential. */
  policy?: PolicyName;
  /** For a GET that writes: it uses the primary, and waits for the rate limiter. */
  writes?: true;
  /**
   * For an operation on one record: its response has an `ETag`, a GET accepts `If-None-Match`, and a PUT,
   * PATCH or DELETE accepts `If-Match`.
   */
  record?: true;
  /** For a GET of several records that clients repeat: its response has a weak `ETag`, for `If-None-Match`. */
  polled?: true;
  /** What a narrowed API key needs. Null: nothing, so that every key may call it. */
  scope?: Scope | null;
}

type DocumentedFields = "method" | "path" | "description" | "request" | "responses" | "middleware";

interface OperationConfig extends OperationOptions, Pick<RouteConfig, DocumentedFields> {
  operationId: string;
  tags: string[];
  summary: string;
}

type Operation<Config extends OperationConfig> = Omit<Config, keyof OperationOptions>;

/** Without this, inference for the type parameter accepts misspelled options. */
type NoOtherKeys<Config> = Record<Exclude<keyof Config, keyof OperationConfig>, never>;

/** Every operation that accepts an API key declares a scope, and no other. */
type DeclaresScope<Config extends OperationConfig> = Config extends {
  credentials: readonly Exclude<Credential, "api_key">[];
}
  ? { scope?: never }
  : { scope: Scope | null };

/** The document leaves this key out. */
const ERROR_OPTIONS = "errorOptions";

export function operation<const Config extends OperationConfig>(
  config: Config & NoOtherKeys<Config> & DeclaresScope<Config>,
): Operation<Config> {
  const {
    credentials = ["api_key"],
    policy,
    writes,
    record,
    polled,
    scope,
    ...others
  }: OperationConfig = config;
  const { role, notFound, errors, ...route } = others;
  const needs = [role && describeRole(role), scope && `Needs the scope \`${scope}\`.`];
  const description = [...needs, route.description].filter(Boolean).join(" ");
  return {
    ...route,
    ...(description && { description }),
    security: credentials.flatMap((name) =>
      name === "api_key" ? [{ api_key: [] }, { session: [] }] : [{ [name]: [] }],
    ),
    ...(policy && { [POLICY_EXTENSION]: policy }),
    ...(writes && { [WRITES_EXTENSION]: writes }),
    ...(record && { [RECORD_EXTENSION]: record }),
    ...(polled && { [POLLED_EXTENSION]: polled }),
    ...(scope && { [SCOPE_EXTENSION]: scope }),
    [ERROR_OPTIONS]: { role, notFound, errors },
  } as unknown as Operation<Config>;
}

/** Source: spec, "Project member" and "Authentication". */
function describeRole(role: NeededRole): string {
  if (role === "admin") return "Needs the role `admin` in the organization.";
  return `Needs the role \`${role}\` in the project, or \`admin\` in the organization.`;
}

export function optionsOf(route: RouteConfig) {
  const policy: unknown = route[POLICY_EXTENSION];
  const scope: unknown = route[SCOPE_EXTENSION];
  return {
    credentials: route.security?.flatMap((each) => Object.keys(each)) ?? [],
    policy: isPolicyName(policy) ? policy : undefined,
    writes: route[WRITES_EXTENSION] === true,
    isRecord: route[RECORD_EXTENSION] === true,
    isPolled: route[POLLED_EXTENSION] === true,
    scope: SCOPES.find((each) => each === scope),
  };
}

export function separateErrorOptions(route: RouteConfig): {
  documented: RouteConfig;
  options: ErrorOptions;
} {
  const { [ERROR_OPTIONS]: options = {}, ...documented } = route as RouteConfig & {
    [ERROR_OPTIONS]?: ErrorOptions;
  };
  return { documented: documented as RouteConfig, options };
}

/** The rate limit policies of requests with an API key, as the API presents them. */
export const API_KEY_POLICIES = presentPolicies(["default", "polling", "reveal"]);
export const SESSION_POLICIES = presentPolicies(["console", "reveal"]);

function presentPolicies(names: readonly PolicyName[]) {
  return names.map((name) => {
    return { name, limit: POLICIES[name].limit, window_seconds: WINDOW_MS / 1000 };
  });
}

function isPolicyName(name: unknown): name is PolicyName {
  return typeof name === "string" && name in POLICIES;
}
