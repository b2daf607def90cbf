/** What `npm run check` and the benchmarks allow the Worker's bundle, after gzip. The platform allows 3 MB. */
export const MAXIMUM_BUNDLE_KB = 452;
