/**
 * What changing a part needs: to be among those whom the rules let `deploy` or `configure`, or a person's `full`
 * credential.
 */
export type ProtectionNeed = "deploy" | "configure" | "full";

/** The protected environments that count: the own one, those of the project, or those within the boundaries. */
type Reach = "environment" | "project" | "organization";

/**
 * What a protected environment consists of, and whatever its rules depend on. A part without a reach needs the same
 * where nothing is protected. docs/protection.md has the same table.
 */
export const PROTECTED_PARTS = {
  deployments: { needs: "deploy", reach: "environment" },
  stacks: { needs: "deploy", reach: "environment" },
  configuration: { needs: "configure", reach: "environment" },
  components: { needs: "configure", reach: "environment" },
  variables: { needs: "configure", reach: "environment" },
  rules: { needs: "full" },
  freezes: { needs: "full" },
  "the environment and its name": { needs: "full", reach: "environment" },
  "the project": { needs: "full", reach: "project" },
  "the connection": { needs: "full", reach: "project" },
  "project roles": { needs: "full", reach: "project" },
  "organization roles": { needs: "full", reach: "organization" },
  "keys for others": { needs: "full", reach: "organization" },
  "service accounts": { needs: "full", reach: "organization" },
  trusts: { needs: "full", reach: "organization" },
  "runner pools and their tokens": { needs: "full", reach: "organization" },
} as const satisfies Record<string, { needs: ProtectionNeed; reach?: Reach }>;

export type ProtectedPart = keyof typeof PROTECTED_PARTS;
