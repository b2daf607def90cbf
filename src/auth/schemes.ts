import { requireScope } from "../actor.ts";
import type { CoreContext, RunnerContext, ServiceContext } from "../context.ts";
import {
  apiKeyStore,
  type KeyPrincipal,
  parseApiKey,
} from "../features/identity/api-keys/index.ts";
import {
  parseRunnerToken,
  type RunnerPrincipal,
  runnerTokenStore,
} from "../features/identity/runner-tokens/index.ts";
import {
  parseSession,
  type SessionPrincipal,
  sessionStore,
} from "../features/identity/sessions/index.ts";
import { readSessionCookie } from "../http/session-cookie.ts";
import { hmacHex } from "../lib/digest.ts";
import { SEND_API_KEY, SEND_RUNNER_TOKEN, SIGN_IN_AGAIN } from "../lib/header-errors.ts";
import type { AuthScheme, BindDeps } from "./admission.ts";

export const apiKeyScheme: AuthScheme<KeyPrincipal, ServiceContext> = {
  policyOf: (declared) => declared?.policy ?? "default",
  credentialStore: apiKeyStore,
  readCredential: readApiKey,
  parseKey: parseApiKey,
  unauthenticatedMessage: SEND_API_KEY,
  requireScope,
  bind: bindActor,
};

/** Does what the key of the session does, in a window of its own. */
export const sessionScheme: AuthScheme<SessionPrincipal, ServiceContext> = {
  policyOf: (declared) => (declared?.policy === "reveal" ? "reveal" : "console"),
  credentialStore: sessionStore,
  readCredential: (request) => (request.headers.has("x-api-key") ? "" : readSessionCookie(request)),
  parseKey: parseSession,
  unauthenticatedMessage: SIGN_IN_AGAIN,
  requireScope,
  bind: bindActor,
};

export const runnerTokenScheme: AuthScheme<RunnerPrincipal, RunnerContext> = {
  policyOf: (declared) => declared?.policy ?? "runner",
  credentialStore: runnerTokenStore,
  readCredential: readApiKey,
  parseKey: parseRunnerToken,
  unauthenticatedMessage: SEND_RUNNER_TOKEN,
  // Its routes and its pool bound what a runner token can do.
  requireScope: () => undefined,
  bind: (core, runner, { env, requireBudget }) =>
    Object.assign(core, {
      runner,
      requireBudget,
      leaseToken: (attemptId: string) => hmacHex(env.LEASE_SECRET, attemptId),
    }),
};

function readApiKey({ headers }: Request): string {
  return headers.get("x-api-key") ?? "";
}

function bindActor(
  core: CoreContext,
  actor: KeyPrincipal,
  { refresh }: BindDeps<KeyPrincipal>,
): ServiceContext {
  return Object.assign(core, { actor, refreshActor: refresh });
}
