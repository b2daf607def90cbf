import { BadInput } from "./errors.ts";
import { LIMITS } from "./limits.ts";

const SEND_TAGS = "Send ETags with their quotes, as responses give them, separated by commas.";

export const INVALID_IF_MATCH = headerError("If-Match", SEND_TAGS);
export const INVALID_IF_NONE_MATCH = headerError("If-None-Match", SEND_TAGS);
export const UNSUPPORTED_IF_MATCH = headerError(
  "If-Match",
  "Remove the header: this operation has no condition.",
);
export const UNSUPPORTED_IF_NONE_MATCH = headerError(
  "If-None-Match",
  "Remove the header: only reads have this condition.",
);

export const INVALID_IDEMPOTENCY_KEY = headerError(
  "Idempotency-Key",
  `Send one key of 1 to ${LIMITS.idempotencyKeyLength.value} visible ASCII characters, without spaces.`,
);
export const IDEMPOTENCY_KEY_REUSED = headerError(
  "Idempotency-Key",
  "This key was used for another request. Send a new key with a new request.",
);

function headerError(path: string, message: string): BadInput {
  return new BadInput([{ path, message }]);
}
