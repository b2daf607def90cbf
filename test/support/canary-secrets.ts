/** Every canary secret starts with this; the suite searches replies and logs for it. */
export const CANARY_PREFIX = "canary-secret-";

/** A unique secret, with characters that escaping and encoding would change. */
export function newCanarySecret(): string {
  return `${CANARY_PREFIX}${crypto.randomUUID()}-"\\'%\n€🔑`;
}

/** The paths whose replies may contain a canary secret. */
const REVEALING_PATHS =
  /^\/v1\/(variables\/[^/]+\/value|(environments|components)\/[^/]+\/variables\/values|runner\/attempts\/[^/]+\/variables)$/;

export function assertNoLeak(path: string, reply: string): void {
  if (reply.includes(CANARY_PREFIX) && !REVEALING_PATHS.test(path)) {
    throw new Error(`${path} leaked a canary secret: ${reply}`);
  }
}
