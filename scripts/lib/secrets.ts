import { randomBytes } from "node:crypto";

/** The Worker's secrets (`[secrets]` in wrangler.toml), each with what makes a fresh one. */
export const SECRETS = {
  BOOTSTRAP_TOKEN: () => randomBytes(32).toString("base64url"),
  ENCRYPTION_KEYS: newEncryptionKey,
  LEASE_SECRET: () => randomBytes(32).toString("base64url"),
} as const satisfies Record<string, () => string>;

export type SecretName = keyof typeof SECRETS;

export const SECRET_NAMES = Object.keys(SECRETS) as SecretName[];

/** Secrets that a deployment can do without: they switch on what only some have (docs/slack.md). */
export const OPTIONAL_SECRET_NAMES = ["SLACK_CLIENT_SECRET"] as const;

/** An entry of a keyring: an ID that says when it was made, and a key of 32 bytes in base64. */
export function newEncryptionKey(): string {
  return `k${Date.now().toString(36)}:${randomBytes(32).toString("base64")}`;
}
