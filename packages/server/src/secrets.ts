import { randomBytes } from "node:crypto";
import {
  REQUIRED_SECRETS,
  type RefusedSetting,
  type SecretName,
} from "../../../src/lib/settings.ts";
import { CommandError } from "./command-error.ts";

/** A generator for each of the Worker's secrets. */
const GENERATORS = {
  BOOTSTRAP_TOKEN: newToken,
  ENCRYPTION_KEYS: newEncryptionKey,
  LEASE_SECRET: newToken,
} as const satisfies Record<SecretName, () => string>;

export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function newSecret(name: SecretName): string {
  return GENERATORS[name]();
}

export function newSecrets(): Record<SecretName, string> {
  const entries = REQUIRED_SECRETS.map((name) => [name, newSecret(name)]);
  return Object.fromEntries(entries);
}

/** Secrets that enable optional features (docs/slack.md, docs/sign-in.md, docs/self-hosting.md). */
export const OPTIONAL_SECRET_NAMES = [
  "SLACK_CLIENT_SECRET",
  "OIDC_CLIENT_SECRET",
  "METRICS_TOKEN",
] as const;

/** Throws with a list of the settings below the heading. */
export function requireNoneRefused(refused: readonly RefusedSetting[], heading: string): void {
  if (refused.length === 0) return;
  const lines = refused.map(({ name, message }) => `  ${name}: ${message}`);
  throw new CommandError([heading, ...lines].join("\n"));
}

/** A keyring entry: an ID that contains the creation time, and a key of 32 bytes in base64. */
export function newEncryptionKey(): string {
  return `k${Date.now().toString(36)}:${randomBytes(32).toString("base64")}`;
}
