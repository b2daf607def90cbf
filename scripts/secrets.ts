import { randomBytes } from "node:crypto";

/** The Worker's secrets (`[secrets]` in wrangler.toml), each with what makes a fresh one. */
export const SECRETS = {
  BOOTSTRAP_TOKEN: () => randomBytes(32).toString("base64url"),
  ENCRYPTION_KEYS: () => `k1:${randomBytes(32).toString("base64")}`,
} as const satisfies Record<string, () => string>;

export type SecretName = keyof typeof SECRETS;

export const SECRET_NAMES = Object.keys(SECRETS) as SecretName[];
