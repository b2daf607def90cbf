import { randomBytes } from "node:crypto";

/** The Worker's secrets (`[secrets]` in wrangler.toml), with a generator for each. */
export const SECRETS = {
  BOOTSTRAP_TOKEN: () => randomBytes(32).toString("base64url"),
  ENCRYPTION_KEYS: newEncryptionKey,
  LEASE_SECRET: () => randomBytes(32).toString("base64url"),
} as const satisfies Record<string, () => string>;

export type SecretName = keyof typeof SECRETS;

export const SECRET_NAMES = Object.keys(SECRETS) as SecretName[];

/** Secrets that enable optional features (docs/slack.md). */
export const OPTIONAL_SECRET_NAMES = ["SLACK_CLIENT_SECRET"] as const;

/** A keyring entry: an ID that contains the creation time, and a key of 32 bytes in base64. */
export function newEncryptionKey(): string {
  return `k${Date.now().toString(36)}:${randomBytes(32).toString("base64")}`;
}
