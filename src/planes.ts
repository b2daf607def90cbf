import type { RunnerContext, ServiceContext } from "./context.ts";
import { type KeyPrincipal, keyRing, parseApiKey } from "./features/api-keys/index.ts";
import {
  parseRunnerToken,
  type RunnerPrincipal,
  tokenRing,
} from "./features/runner-pools/index.ts";
import { slackSettingsOf } from "./features/slack/index.ts";
import type { Plane } from "./gate.ts";
import { hmacHex } from "./lib/digest.ts";

/** What an API key opens: everything behind the gate but the runner plane. */
export function peoplePlane(
  api: Plane<KeyPrincipal, ServiceContext>["api"],
): Plane<KeyPrincipal, ServiceContext> {
  return {
    api,
    keyRing,
    parseKey: parseApiKey,
    bind: (core, actor, env) => ({ ...core, actor, slack: slackSettingsOf(env) }),
  };
}

/** What a runner token opens: the runner plane, and nothing else. */
export function runnerPlane(
  api: Plane<RunnerPrincipal, RunnerContext>["api"],
): Plane<RunnerPrincipal, RunnerContext> {
  return {
    api,
    keyRing: tokenRing,
    parseKey: parseRunnerToken,
    bind: (core, runner, env) => ({
      ...core,
      runner,
      leaseToken: (attemptId) => hmacHex(env.LEASE_SECRET, attemptId),
    }),
  };
}
