import { Conflict } from "../../../lib/errors.ts";
import type { ComponentKind } from "../../tenancy/model.ts";

export const NAME_TAKEN = new Conflict(
  "The environment already has a component with this name. Choose another name.",
);

export interface ComponentInput {
  name: string;
  kind: ComponentKind;
}
