import { Conflict } from "../../lib/errors.ts";

export const NAME_TAKEN = new Conflict(
  "The environment already has a stack with this name. Choose another name.",
);
