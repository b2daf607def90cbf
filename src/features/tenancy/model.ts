export const MEMBER_KINDS = ["person", "service_account"] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

export const MEMBER_STATUSES = ["active", "pending"] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

export const COMPONENT_KINDS = ["service", "worker", "job", "site"] as const;
export type ComponentKind = (typeof COMPONENT_KINDS)[number];

/** Source: docs/state-machine.md, "What always holds". */
export const CONNECTION_STATUSES = ["connected", "disconnected", "disconnecting"] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** Six hours. */
export const DEFAULT_RUN_SECONDS = 21_600;
