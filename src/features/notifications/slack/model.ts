import { ApiError, BadInput, Conflict } from "../../../lib/errors.ts";
import { MAXIMUM_INTEGRATIONS } from "../integrations/model.ts";

export const NOT_GRANTED = new BadInput([
  {
    path: "error",
    message: "Access was not granted. Ask for the installation again, and allow it.",
  },
]);

export const FULL = new Conflict(
  `The project has ${MAXIMUM_INTEGRATIONS} integrations, which is the most. Delete one first.`,
);

export const TIMED_OUT = new ApiError(
  "timeout",
  "Slack took too long. Ask for the installation again.",
);

export const FAILED = "Slack did not respond as expected. Start the installation again.";
