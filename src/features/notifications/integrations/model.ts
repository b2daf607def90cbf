import { LIMITS } from "../../../lib/limits.ts";
import type { Kind } from "../events.ts";

export const INTEGRATION_TYPES = ["slack", "webhook"] as const;
export type IntegrationType = (typeof INTEGRATION_TYPES)[number];

export const DISABLED_REASONS = ["gone", "failing"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Per project: each event writes a delivery for every integration of its project. */
export const MAXIMUM_INTEGRATIONS = LIMITS.integrationsPerProject.value;

export interface Reference {
  organizationId: string;
  projectId: string;
  id: string;
}

export type Configuration = Record<Kind, boolean>;
export type PartialConfiguration = { [Name in Kind]?: boolean | undefined };
