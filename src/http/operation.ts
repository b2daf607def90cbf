import type { RouteConfig } from "@hono/zod-openapi";
import { POLICIES, type PolicyName } from "../rate-limits/policies.ts";
import { ERROR_REPLIES } from "./replies.ts";

export const POLICY_EXTENSION = "x-ratelimit-policy";
const WRITES_EXTENSION = "x-writes";

export type Credential = "api_key" | "runner_token" | "bootstrap_token";

interface OperationOptions {
  /** Any one of these gives access; `[]` makes the operation public. Default: an API key. */
  credentials?: readonly Credential[];
  /** Default: the policy of the credential. */
  policy?: PolicyName;
  /** For a GET that writes: it uses the primary, and waits for the rate limiter. */
  writes?: true;
}

type DocumentedFields = "method" | "path" | "description" | "request" | "responses" | "middleware";

interface OperationConfig extends OperationOptions, Pick<RouteConfig, DocumentedFields> {
  operationId: string;
  tags: string[];
  summary: string;
}

type Operation<Config extends OperationConfig> = Omit<
  Config,
  keyof OperationOptions | "responses"
> & {
  responses: Config["responses"] & typeof ERROR_REPLIES;
};

/** Without this, inference for the type parameter accepts misspelled options. */
type NoOtherKeys<Config> = Record<Exclude<keyof Config, keyof OperationConfig>, never>;

export function operation<const Config extends OperationConfig>(
  config: Config & NoOtherKeys<Config>,
): Operation<Config> {
  const { credentials = ["api_key"], policy, writes, responses, ...route } = config;
  return {
    ...route,
    security: credentials.map((name) => ({ [name]: [] })),
    ...(policy && { [POLICY_EXTENSION]: policy }),
    ...(writes && { [WRITES_EXTENSION]: writes }),
    responses: { ...responses, ...ERROR_REPLIES },
  } as unknown as Operation<Config>;
}

export function optionsOf(route: RouteConfig) {
  const policy: unknown = route[POLICY_EXTENSION];
  return {
    credentials: route.security?.flatMap((each) => Object.keys(each)) ?? [],
    policy: isPolicyName(policy) ? policy : undefined,
    writes: route[WRITES_EXTENSION] === true,
  };
}

function isPolicyName(name: unknown): name is PolicyName {
  return typeof name === "string" && name in POLICIES;
}
