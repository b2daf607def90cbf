/** Of each client of AWS: throttled requests and those without a response are sent again, a fixed number of times. */
export const CLIENT_OPTIONS = {
  retryMode: "standard",
  maxAttempts: 8,
  requestHandler: {
    connectionTimeout: 5_000,
    requestTimeout: 30_000,
    throwOnRequestTimeout: true,
  },
} as const;
