import type { RunnerContext, ServiceContext } from "../context.ts";
import { apiKeyStore, type KeyPrincipal, parseApiKey } from "../features/api-keys/index.ts";
import {
  parseRunnerToken,
  type RunnerPrincipal,
  runnerTokenStore,
} from "../features/runner-pools/index.ts";
import { hmacHex } from "../lib/digest.ts";
import type { AuthScheme } from "./dispatcher.ts";

/** What an API key opens: everything behind the gates but the runner plane. */
export function apiKeyScheme(
  api: AuthScheme<KeyPrincipal, ServiceContext>["api"],
): AuthScheme<KeyPrincipal, ServiceContext> {
  return {
    api,
    policy: "default",
    apiKeyStore,
    parseKey: parseApiKey,
    refusal: "Send a valid API key in the x-api-key header.",
    bind: (core, actor, env) => ({
      ...core,
      actor,
      settings: env,
      allowsNewOrganizations: allowsNewOrganizations(env),
    }),
  };
}

/** What a runner token opens: the runner plane, and of the rest what says so of itself. */
export function runnerTokenScheme(
  api: AuthScheme<RunnerPrincipal, RunnerContext>["api"],
): AuthScheme<RunnerPrincipal, RunnerContext> {
  return {
    api,
    policy: "runner",
    apiKeyStore: runnerTokenStore,
    parseKey: parseRunnerToken,
    refusal:
      "Send a valid runner token (lsr_…) in the x-api-key header: an API key does not open this. " +
      "POST /v1/orgs/{org_id}/runner-pools/{pool_id}/tokens makes one.",
    bind: (core, runner, env) => ({
      ...core,
      runner,
      leaseToken: (attemptId) => hmacHex(env.LEASE_SECRET, attemptId),
    }),
  };
}

/** The setting is "true" in wrangler.toml; any other value turns it off. */
function allowsNewOrganizations(env: { ALLOW_NEW_ORGANIZATIONS: string }): boolean {
  return env.ALLOW_NEW_ORGANIZATIONS === "true";
}
