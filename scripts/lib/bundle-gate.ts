/**
 * What `npm run check` and the benchmarks allow the Worker's bundle, after gzip. 10 KB of it are for the rules of
 * environments, with their events, and 8 for what a project page shows.
 */
export const MAXIMUM_BUNDLE_KB = 286;
