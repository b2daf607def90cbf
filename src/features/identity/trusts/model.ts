import type { Scope } from "../../../lib/scopes.ts";
import type { TrustConditions } from "../credentials/model.ts";

export const DEFAULT_TTL_SECONDS = 900;

/** For its ETag: nobody changes a trust. */
export const TRUST_VERSION = 1;

/** How far the clocks of the issuer and of the service may differ. */
export const CLOCK_TOLERANCE_SECONDS = 60;

/** What deployments show of a verified token, and the claims that have it: GitHub's, then GitLab's. */
export const RECORDED_CLAIMS = {
  repository: ["repository", "project_path"],
  repository_id: ["repository_id", "project_id"],
  ref: ["ref"],
  sha: ["sha"],
  workflow: ["workflow"],
  run_id: ["run_id", "pipeline_id"],
  actor: ["actor", "user_login"],
} as const satisfies Record<string, readonly string[]>;

export interface TrustInput {
  name: string;
  issuer: string;
  audience: string;
  conditions: TrustConditions;
  membershipId: string | null;
  poolId: string | null;
  scopes: Scope[] | null;
  projectIds: string[] | null;
  environmentIds: string[] | null;
  ttlSeconds: number;
}

/** What a CI job gets for its token. */
export interface Exchanged {
  id: string;
  trustId: string;
  type: "api_key" | "runner_token";
  /** In plain text. */
  key: string;
  expiresAt: number;
  ttlSeconds: number;
  organizationId: string;
  /** Of a runner token. */
  poolId: string | null;
  /** The API key or runner token, as a GET of it shows it. */
  presented: object;
}

export const MALFORMED = "Send a JSON Web Token: three texts in base64url, separated by dots.";
