import { Conflict } from "../../../lib/errors.ts";

export const NAME_TAKEN = new Conflict(
  "The environment already has a component with this name. Choose another name.",
);

export const COMPONENT_KINDS = ["service", "worker", "job", "site"] as const;
export type ComponentKind = (typeof COMPONENT_KINDS)[number];

export interface ComponentInput {
  name: string;
  kind: ComponentKind;
}
