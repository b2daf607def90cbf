import { ApiError, BadInput, NotFound, Unauthenticated, Unauthorized } from "../../lib/errors.ts";

/** From the redirect to the identity provider until the callback. */
export const SIGN_IN_TTL_MS = 10 * 60_000;

export const CALLBACK_PATH = "/sign-in/callback";

export const NOT_CONFIGURED = new NotFound(
  "identity provider: this deployment has no sign-in with OpenID Connect. Use a link or an API key",
);

export const PROVIDER_UNAVAILABLE = new ApiError(
  "timeout",
  "The identity provider does not respond as it should. Try again; if this persists, the operator finds " +
    "the reason in the log.",
);

/** The same for every callback that belongs to no sign-in of this browser. */
export const UNKNOWN_SIGN_IN = new BadInput([
  {
    path: "state",
    message:
      "This sign-in was started in another browser or more than 10 minutes ago, or has ended. Start again.",
  },
]);

export const PROVIDER_REFUSED = new Unauthenticated(
  "The identity provider has not signed you in, or its response is not valid. Start again.",
);

export const UNVERIFIED_ADDRESS = new Unauthorized(
  "The identity provider does not say that your e-mail address is verified. Verify it there, and start again.",
);

export const NO_ACCOUNT = new Unauthorized(
  "Your e-mail address has no account here. Ask an administrator for an invitation.",
);

export const ONLY_OPEN_ID_CONNECT = new ApiError(
  "forbidden",
  "Only a session from OpenID Connect can switch between organizations: this one has the authority of " +
    "an API key. Sign in to the other organization.",
);
