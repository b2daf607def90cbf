import { parseKeyring } from "./cipher.ts";
import { ApiError } from "./errors.ts";
import { type IdentityProviderSettings, identityProviderProblems } from "./identity-provider.ts";
import type { Log } from "./log.ts";
import { isLoopback, originsProblem, readOrigins } from "./origins.ts";
import {
  RETENTION,
  RETENTION_PERIODS,
  type RetentionSettings,
  retentionProblem,
} from "./retention.ts";

/** The secrets that every deployment needs. */
export const REQUIRED_SECRETS = ["BOOTSTRAP_TOKEN", "ENCRYPTION_KEYS", "LEASE_SECRET"] as const;

export type SecretName = (typeof REQUIRED_SECRETS)[number];

/** The settings that are checked, as they are in the environment. */
export type CheckedSettings = {
  readonly [Name in SecretName | "ALLOW_INSECURE_WEBHOOKS" | "CORS_ORIGINS" | "METRICS_TOKEN"]?:
    | string
    | undefined;
} & RetentionSettings &
  IdentityProviderSettings;

/** A setting that the Worker does not run with. */
export interface RefusedSetting {
  name: string;
  /** What is wrong, and what to do. Never contains the value. */
  message: string;
}

export const MINIMUM_CHARACTERS = 32;

/** Samples in this repository's history, which everybody can read: a text, and a key of 32 bytes. */
const PUBLISHED = ["change-me", "Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWUtISE="];

const HOW_TO_SET_TEXT = "Set it to the output of `openssl rand -hex 32`.";
const HOW_TO_SET_KEYRING = 'Set it to the output of `echo "k1:$(openssl rand -base64 32)"`.';

const INSECURE_WEBHOOKS: RefusedSetting = {
  name: "ALLOW_INSECURE_WEBHOOKS",
  message: "It is true, which is only for a Worker that is called at localhost. Set it to false.",
};

const SECRET_PROBLEMS: Record<SecretName, (value: string) => string | undefined> = {
  BOOTSTRAP_TOKEN: textProblem,
  ENCRYPTION_KEYS: keyringProblem,
  LEASE_SECRET: textProblem,
};

/** What is wrong with the value of a secret, and what to do. */
export function secretProblem(name: SecretName, value: string | undefined): string | undefined {
  return SECRET_PROBLEMS[name](value?.trim() ?? "");
}

/** The URL of a request is for ALLOW_INSECURE_WEBHOOKS. The schedule and the queue have none. */
export function findRefusedSettings(
  settings: CheckedSettings,
  requestUrl?: string,
): readonly RefusedSetting[] {
  const refused = refusedInEnvironment(settings);
  if (requestUrl === undefined || !allowsInsecureWebhooks(settings)) return refused;
  return isLoopback(new URL(requestUrl).hostname) ? refused : [...refused, INSECURE_WEBHOOKS];
}

/**
 * Whether the deployment trusts administrators to know whose an e-mail address is. Otherwise only the
 * sign-in of the person proves it.
 */
export function trustsAdmins(settings: { readonly TRUST_ADMINS?: string }): boolean {
  return settings.TRUST_ADMINS !== "false";
}

/** Who says who an approver is. */
export const APPROVER_VERIFIERS = ["identity_provider", "admins"] as const;
export type ApproverVerifier = (typeof APPROVER_VERIFIERS)[number];

export type IdentitySettings = { readonly TRUST_ADMINS?: string } & IdentityProviderSettings;

/** The admins, only where the operator trusts them and has named no identity provider. */
export function approverVerifier(settings: IdentitySettings): ApproverVerifier {
  const hasProvider = Boolean(settings.OIDC_ISSUER || settings.OIDC_CLIENT_ID);
  return trustsAdmins(settings) && !hasProvider ? "admins" : "identity_provider";
}

/** Whether webhooks may go to `http:` and to any host, for local development. */
export function allowsInsecureWebhooks(
  settings: Pick<CheckedSettings, "ALLOW_INSECURE_WEBHOOKS">,
): boolean {
  return settings.ALLOW_INSECURE_WEBHOOKS === "true";
}

const CORS_ORIGINS = "CORS_ORIGINS";

/** The origins whose scripts may call the API. None if the setting is refused. */
export function allowedOrigins(settings: CheckedSettings): readonly string[] {
  if (!settings.CORS_ORIGINS) return [];
  const isRefused = refusedInEnvironment(settings).some(({ name }) => name === CORS_ORIGINS);
  return isRefused ? [] : readOrigins(settings.CORS_ORIGINS);
}

/** Throws `internal` if a setting is refused. The log names the setting, the error does not. */
export function requireSafeSettings(
  settings: CheckedSettings,
  log: Log,
  { requestUrl, requestId }: { requestUrl?: string; requestId?: string } = {},
): void {
  const refused = findRefusedSettings(settings, requestUrl);
  if (refused.length === 0) return;
  log("error", "settings.refused", { request_id: requestId, settings: refused });
  throw new ApiError(
    "internal",
    "The settings of this deployment are not safe. Its operator finds the reason at GET /health.",
  );
}

/** An isolate has one environment object, so its settings are checked once. */
const refusedOf = new WeakMap<CheckedSettings, readonly RefusedSetting[]>();

function refusedInEnvironment(settings: CheckedSettings): readonly RefusedSetting[] {
  const known = refusedOf.get(settings);
  if (known) return known;
  const refusedSecrets = REQUIRED_SECRETS.flatMap((name) => {
    const message = secretProblem(name, settings[name]);
    return message ? [{ name, message }] : [];
  });
  const refusedPeriods = RETENTION_PERIODS.flatMap((period) => {
    const { setting: name } = RETENTION[period];
    const message = retentionProblem(settings[name]);
    return message ? [{ name, message }] : [];
  });
  const tokenMessage = settings.METRICS_TOKEN ? textProblem(settings.METRICS_TOKEN) : undefined;
  const refusedToken = tokenMessage ? [{ name: "METRICS_TOKEN", message: tokenMessage }] : [];
  const allowsInsecure = allowsInsecureWebhooks(settings);
  const message = originsProblem(settings.CORS_ORIGINS, allowsInsecure);
  const refusedOrigins = message ? [{ name: CORS_ORIGINS, message }] : [];
  const refusedProvider = identityProviderProblems(settings, allowsInsecure);
  const refused = [
    ...refusedSecrets,
    ...refusedToken,
    ...refusedPeriods,
    ...refusedOrigins,
    ...refusedProvider,
  ];
  refusedOf.set(settings, refused);
  return refused;
}

function textProblem(text: string): string | undefined {
  if (text === "") return `It is not set. ${HOW_TO_SET_TEXT}`;
  if (PUBLISHED.some((sample) => text.includes(sample))) {
    return `It contains a published sample. ${HOW_TO_SET_TEXT}`;
  }
  if (text.length >= MINIMUM_CHARACTERS) return undefined;
  return `It has fewer than ${MINIMUM_CHARACTERS} characters. ${HOW_TO_SET_TEXT}`;
}

function keyringProblem(keyring: string): string | undefined {
  if (keyring === "") return `It is not set. ${HOW_TO_SET_KEYRING}`;
  try {
    const published = parseKeyring(keyring).findIndex(({ bytes }) => isPublished(bytes));
    if (published < 0) return undefined;
    return (
      `Key ${published + 1} of the keyring is a published sample. Encrypt all values with a new key, ` +
      "and remove the sample: see docs/configuration.md, Replace the sample key."
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : "It is not a keyring";
    return `${reason}. Correct it: without their keys, stored values cannot be decrypted.`;
  }
}

/** Compares the bytes, because several base64 texts decode to the same bytes. */
function isPublished(bytes: Uint8Array): boolean {
  return PUBLISHED.includes(btoa(String.fromCharCode(...bytes)));
}
