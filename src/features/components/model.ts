export const COMPONENT_KINDS = ["service", "worker", "job", "site"] as const;
export type ComponentKind = (typeof COMPONENT_KINDS)[number];

export interface ComponentInput {
  name: string;
  kind: ComponentKind;
}
