import type { Actor, Runner } from "./actor.ts";
import type { Database } from "./db/client.ts";
import type { Ownership } from "./db/ownership.ts";
import type { Cipher } from "./lib/cipher.ts";
import type { Clock } from "./lib/clock.ts";
import type { ConditionalRequest } from "./lib/entity-tag.ts";
import type { Fetch } from "./lib/fetch.ts";
import type { ProviderSettings } from "./lib/identity-provider.ts";
import type { Log } from "./lib/log.ts";
import type { RefusedSetting, SecretName } from "./lib/settings.ts";

/** Where a request comes from, for the audit log. */
export interface RequestOrigin {
  requestId: string;
  clientAddress: string | null;
  userAgent: string | null;
}

export interface ChangedKey {
  secretHash: string;
  version: number;
}

type TextSettings = { [Name in keyof Env as Env[Name] extends string ? Name : never]: Env[Name] };

/** Without those that belong to the pipeline or to one feature: secrets, CORS. */
export type Settings = Omit<TextSettings, SecretName | "CORS_ORIGINS"> & {
  /** An optional secret, which is not in `Env`. */
  SLACK_CLIENT_SECRET?: string;
};

/** The logs of deployments, by the ID of the deployment. */
export interface DeploymentLogs {
  objects: Env["ATTEMPT_LOG"];
  /**
   * Tells the logs in the background that their deployments have changed. The sweep tells those that have
   * ended, if this fails.
   */
  refresh(deploymentIds: readonly string[]): void;
  /** Tells those who follow a log, in the background, that a stack has changed. */
  refreshFollowers(deploymentId: string): void;
  /** Rejects if one is not deleted. */
  erase(deploymentIds: readonly string[]): Promise<void>;
}

/** The context of work without a caller: the schedule and the queue consumers. */
export interface SystemContext {
  db: Database;
  ownership: Ownership;
  /** Stopped when the work of a request begins. Moves for the schedule and the queue consumers. */
  clock: Clock;
  log: Log;
  /** For requests to other services. */
  fetch: Fetch;
  /** Rejects if the deployment has no keyring. */
  cipher(): Promise<Cipher>;
  /** Enqueues committed deliveries in the background. The sweep enqueues those that fail. */
  enqueue(deliveries: readonly { deliveryId: string }[]): void;
  logs: DeploymentLogs;
  settings: Settings;
  /** Does work of the schedule, and charges the organization's budget with what its statements cost. */
  paidBy<Result>(
    organizationId: string,
    work: (ctx: SystemContext) => Promise<Result>,
  ): Promise<Result>;
}

export type CreateSystemContext = (
  db: Database,
  env: Env,
  execution: Pick<ExecutionContext, "waitUntil">,
) => SystemContext;

/** The context of a request without a credential. */
export interface PublicContext extends SystemContext {
  origin: RequestOrigin;
}

/** What the operator has set up, beside the settings. */
export interface Installation {
  /** Undefined without an identity provider. */
  identityProvider(): ProviderSettings | undefined;
  /** What reads the metrics. Undefined: nothing does. */
  metricsToken(): string | undefined;
  /** What keeps the service from working at this URL. A missing secret, by name, is refused, too. */
  problems(requestUrl: string): {
    missingSecrets: readonly string[];
    refusedSettings: readonly RefusedSetting[];
  };
  /** A static asset. Undefined: there is none. */
  asset(request: Request, path: string): Promise<Response | undefined>;
}

/** The context of an operation that is open to all. */
export interface OpenContext extends PublicContext, Pick<CoreContext, "invalidateKeys"> {
  installation: Installation;
}

/** The context of an authenticated request, with either type of credential. */
export interface CoreContext extends PublicContext {
  /** For a response that lasts, such as a stream. */
  movingClock: Clock;
  /** Makes every isolate read these keys from the database again, instead of from its cache. */
  invalidateKeys(keys: readonly ChangedKey[]): Promise<void>;
}

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  key: string;
  /** Of method, path, query and body. */
  fingerprint: string;
  /** Of the response, as the route declares it. */
  status: number;
  /** Of the entry of its result. */
  entryId: string;
  actor: Actor;
}

/** The context of a request with an API key or a session. */
export interface ServiceContext extends CoreContext, ConditionalRequest {
  actor: Actor;
  /** Reads the credential of a long response again. Undefined if it is no longer valid. */
  refreshActor(): Promise<Actor | undefined>;
  /** Absent: the request has no `Idempotency-Key`. */
  idempotentRequest?: IdempotentRequest;
}

export interface RunnerContext extends CoreContext {
  runner: Runner;
  /** Throws `RateLimited` if the organization has used its budget of database work, and waits for its turn. */
  requireBudget(): Promise<void>;
  /** Proves that a runner holds the lease of this attempt. */
  leaseToken(attemptId: string): Promise<string>;
}
