import { ApiError, BadInput } from "./errors.ts";
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

export const INVALID_BOOKMARK = headerError(
  "X-D1-Bookmark",
  "Send the header as an earlier response gave it.",
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

export const SEND_API_KEY = "Send a valid API key in the x-api-key header.";

export const SEND_RUNNER_TOKEN =
  "Send a valid runner token (lsr_…) in the x-api-key header: an API key does not open this. " +
  "POST /v1/orgs/{org_id}/runner-pools/{pool_id}/tokens makes one.";

export const SEND_BOOTSTRAP_TOKEN = "Send the bootstrap token: authorization: Bearer <token>.";

/** The same for every cookie that is of no use, so that it tells nothing about the reason. */
export const SIGN_IN_AGAIN =
  "Your session has ended, or its cookie is not valid. Sign in again, or send a valid API key in the " +
  "x-api-key header.";

export const CROSS_ORIGIN = new ApiError(
  "forbidden",
  "A browser's request that signs in, or that changes something with a session, must come from a page of " +
    "this origin: Sec-Fetch-Site is not same-origin, or the Origin is absent or another one. Send an " +
    "API key in the x-api-key header instead.",
);
