/**
 * The addresses that somebody has to own before a release. `npm run release` lists them. Code imports them;
 * test/pure/addresses.test.ts compares them with docs, workflows and manifests, which cannot.
 */

/** Owner and name on GitHub. The action has the same path, because action.yml is at the root. */
export const REPOSITORY = "longshore/longshore";
export const REPOSITORY_URL = `https://github.com/${REPOSITORY}`;
export const NPM_SCOPE = "@longshore";
export const RUNNER_IMAGE = "ghcr.io/longshore/longshore-runner";

/** What a release publishes: the folders in packages/, by which the packages are named. */
export const PUBLISHED_PACKAGES = ["cli", "client", "runner", "server"] as const;

/** How people run the command line without installing it. In a checkout, npx finds the checkout's own. */
export const RUN_CLI = `npx ${NPM_SCOPE}/cli`;

/** A page or a folder of the repository. */
export function sourceUrl(path: string): string {
  return `${REPOSITORY_URL}/blob/main/${path}`;
}
