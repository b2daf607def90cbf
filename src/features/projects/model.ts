/** Spec, "States and transitions". */
export const CONNECTION_STATUSES = ["connected", "disconnected", "disconnecting"] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

export const PROVIDERS = ["aws"] as const;
