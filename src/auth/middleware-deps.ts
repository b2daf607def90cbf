import type { OpenContext } from "../context.ts";
import { openForWriting } from "../db/client.ts";
import { requireBootstrapToken } from "../features/identity/bootstrap/index.ts";
import { looksLikeRunnerToken } from "../features/identity/runner-tokens/index.ts";
import { readAsset } from "../http/assets.ts";
import type { Declared } from "../http/declared.ts";
import { type MiddlewareDeps, originOf, type RequestContext } from "../http/request-context.ts";
import { mayUseCookie } from "../http/same-origin.ts";
import { hasSessionCookie } from "../http/session-cookie.ts";
import { stoppedClock } from "../lib/clock.ts";
import { CROSS_ORIGIN } from "../lib/header-errors.ts";
import { readProviderSettings } from "../lib/identity-provider.ts";
import { type CheckedSettings, findRefusedSettings, REQUIRED_SECRETS } from "../lib/settings.ts";
import { ClientAddressLimiter, DatabasePace, Limiter } from "../rate-limits/index.ts";
import { Admission, type AdmissionDeps } from "./admission.ts";
import { apiKeyScheme, runnerTokenScheme, sessionScheme } from "./schemes.ts";

/** What decides who is let in, with the caches of the isolate. */
export function createMiddlewareDeps(
  deps: Pick<AdmissionDeps, "clock" | "log" | "createContext">,
): Omit<MiddlewareDeps, "safeWrites" | "read"> {
  const { clock, log, createContext } = deps;
  const addressLimiter = new ClientAddressLimiter(clock, log);
  const limiter = new Limiter(clock, log);
  const shared = { ...deps, addressLimiter, pace: new DatabasePace() };
  const kinds = {
    apiKey: new Admission(apiKeyScheme, shared),
    session: new Admission(sessionScheme, shared),
    runner: new Admission(runnerTokenScheme, shared),
  };
  const limitAddress = (context: RequestContext) => addressLimiter.enforce(context);
  return {
    ...{ clock, log, limitAddress },
    admissionOf: async (context, declared) => {
      if (takesRunnerToken(context, declared)) return kinds.runner;
      const { request } = context;
      const usesCookie = !request.headers.has("x-api-key") && hasSessionCookie(request);
      if (usesCookie && !mayUseCookie(request, declared?.writes === true)) {
        await limitAddress(context);
        throw CROSS_ORIGIN;
      }
      return usesCookie || declared?.access === "session" ? kinds.session : kinds.apiKey;
    },
    openToAll: (context) => {
      const { env, execution } = context;
      const system = createContext(openForWriting(env.DB).db, env, execution);
      return Object.assign(system, {
        clock: stoppedClock(clock),
        origin: originOf(context),
        installation: installationOf(env),
        invalidateKeys: (keys) => limiter.invalidateKeys(env.RATE_LIMITER, keys),
      } satisfies Partial<OpenContext>);
    },
    requireBootstrapToken: ({ request, env }) => {
      const [, token] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
      return requireBootstrapToken(env.DB, token, env.BOOTSTRAP_TOKEN);
    },
  };
}

function takesRunnerToken({ path, request }: RequestContext, declared?: Declared): boolean {
  if (path.startsWith("/v1/runner/")) return true;
  const access = declared?.access;
  const isEither = typeof access === "object" && access.runnerToken === true;
  return isEither && looksLikeRunnerToken(request.headers.get("x-api-key"));
}

function installationOf(env: Env & CheckedSettings): OpenContext["installation"] {
  return {
    identityProvider: () => readProviderSettings(env),
    metricsToken: () => env.METRICS_TOKEN || undefined,
    problems: (requestUrl) => ({
      missingSecrets: REQUIRED_SECRETS.filter((name) => !env[name]),
      refusedSettings: findRefusedSettings(env, requestUrl),
    }),
    asset: (request, path) => readAsset(env.ASSETS, request, path),
  };
}
