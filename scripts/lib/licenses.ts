/** The part of package-lock.json that the check reads. */
export interface Lockfile {
  packages: Record<string, { license?: string; dev?: boolean; link?: boolean }>;
}

/** Licenses without conditions on what is combined with the package. */
const PERMISSIVE: readonly string[] = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Python-2.0",
  "Unlicense",
];

/** Also for tools: Longshore neither contains nor changes them. */
const TOOLS: readonly string[] = [...PERMISSIVE, "LGPL-3.0-or-later", "MPL-2.0"];

/** What Miniflare can use for images, which Longshore has none of. npm installs it, and nothing of Longshore loads it. */
const NEVER_LOADED = /(^|\/)node_modules\/(@img\/sharp-[\w-]+|sharp)$/;

/** The packages of the lockfile whose license is not allowed, with the license. */
export function findRefusedLicenses({ packages }: Lockfile): string[] {
  return Object.entries(packages).flatMap(([path, { license, dev = false, link }]) => {
    const isInstalled = path.startsWith("node_modules/") || path.includes("/node_modules/");
    if (
      !isInstalled ||
      link ||
      isAllowed(license ?? "", dev || NEVER_LOADED.test(path) ? TOOLS : PERMISSIVE)
    )
      return [];
    return [`${path}: ${license ?? "no license"}`];
  });
}

/** Of an SPDX expression. One with nested parentheses may be refused although it is allowed. */
function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const flat = expression.replace(/^\(([^()]*)\)$/, "$1");
  const every = flat.split(" AND ").every((license) => allowed.includes(license));
  return every || flat.split(" OR ").some((license) => allowed.includes(license));
}
