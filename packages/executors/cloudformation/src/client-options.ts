import { Agent as HttpAgent } from "node:http";
import { Agent } from "node:https";

/** As the SDK has them. Node reads the proxies since 22.21 and 24.5. */
const AGENT_OPTIONS = { keepAlive: true, maxSockets: 50, proxyEnv: process.env };

/** Of each client of AWS: throttled requests and those without a response are sent again, a fixed number of times. */
export const CLIENT_OPTIONS = {
  retryMode: "standard",
  maxAttempts: 8,
  requestHandler: {
    connectionTimeout: 5_000,
    requestTimeout: 30_000,
    throwOnRequestTimeout: true,
    httpAgent: new HttpAgent(AGENT_OPTIONS),
    httpsAgent: new Agent(AGENT_OPTIONS),
  },
} as const;
