/** Whatever begins like this is a secret that a test has planted: the suite scans for it. */
export const PLANTED = "planted-secret-";

/** A secret of a test's own, with characters that escaping and encoding would change. */
export function plant(): string {
  return `${PLANTED}${crypto.randomUUID()}-"\\'%\n€🔑`;
}

/** The paths that may show a planted secret. */
const VALUE = /^\/v1\/(variables\/[^/]+\/value|runner\/attempts\/[^/]+\/variables)$/;

/** Throws if a reply shows what only these paths may show. */
export function refuseLeak(path: string, reply: string): void {
  if (reply.includes(PLANTED) && !VALUE.test(path)) {
    throw new Error(`${path} leaked a planted secret: ${reply}`);
  }
}
