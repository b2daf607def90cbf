import { Conflict } from "../../../lib/errors.ts";

export const PROVIDERS = ["aws"] as const;

export const DISCONNECTING = new Conflict(
  "The project is disconnecting. Retry after its deployments have ended.",
);
