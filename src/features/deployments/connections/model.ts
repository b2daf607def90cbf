import { Conflict } from "../../../lib/errors.ts";

export const PROVIDERS = ["aws", "cloudflare", "kubernetes", "ssh", "other"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** Where runners deploy a project to. No field is a secret: a runner has its own credentials. */
export type Connection =
  | { provider: "aws"; account_id: string; region: string; role_arn: string | null }
  | { provider: "cloudflare"; account_id: string }
  | { provider: "kubernetes"; context: string; namespace: string | null }
  | { provider: "ssh"; host: string; user: string | null }
  | { provider: "other"; name: string };

export const DISCONNECTING = new Conflict(
  "The project is disconnecting. Retry after its deployments have ended.",
);
