import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readAuditReport } from "../../scripts/lib/audit-report.ts";
import { findRefusedLicenses, type Lockfile } from "../../scripts/lib/licenses.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";

const LOCKFILE: Lockfile = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));

describe("the licenses of the dependencies", () => {
  const check = (license: string | undefined, dev = false) =>
    findRefusedLicenses({
      packages: { "node_modules/some": { dev, ...(license && { license }) } },
    });

  it("are all allowed", () => {
    expect(Object.keys(LOCKFILE.packages).length).toBeGreaterThan(100);
    expect(findRefusedLicenses(LOCKFILE)).toEqual([]);
  });

  it("are refused if they are unknown, missing, or have conditions on what the Worker contains", () => {
    for (const license of ["GPL-3.0-only", "SEE LICENSE IN x", "LGPL-3.0-or-later", "MPL-2.0"]) {
      expect(check(license)).toEqual([`node_modules/some: ${license}`]);
    }
    expect(check(undefined)).toEqual(["node_modules/some: no license"]);
    expect(check("GPL-3.0-only", true)).toEqual(["node_modules/some: GPL-3.0-only"]);
    const nested = { "packages/cli/node_modules/other": { license: "GPL-3.0-only" } };
    expect(findRefusedLicenses({ packages: nested }).length).toBe(1);
  });

  it("of tools may be weak copyleft", () => {
    expect(check("MPL-2.0", true)).toEqual([]);
    expect(check("Apache-2.0 AND LGPL-3.0-or-later", true)).toEqual([]);
  });

  it.each([
    ["MIT OR GPL-3.0-only", true],
    ["(MIT OR GPL-3.0-only)", true],
    ["MIT AND ISC", true],
    ["MIT AND GPL-3.0-only", false],
    ["MIT AND GPL-3.0-only OR ISC", true],
    ["(MIT OR ISC) AND (GPL-3.0-only OR AGPL-3.0-only)", false],
    ["GPL-3.0-only AND (MIT OR ISC)", false],
  ])("are read as SPDX expressions: %s", (expression, allowed) => {
    expect(check(expression)).toEqual(allowed ? [] : [`node_modules/some: ${expression}`]);
  });
});

describe("the audit of the dependencies", () => {
  const report = (severity: string) => {
    const counts = { info: 0, low: 0, moderate: 0, high: 0, critical: 0, [severity]: 1 };
    return JSON.stringify({
      auditReportVersion: 2,
      vulnerabilities: { some: { name: "some", severity } },
      metadata: { vulnerabilities: counts },
    });
  };

  it("fails for vulnerabilities that are high or critical, and names the package", () => {
    for (const severity of ["high", "critical"]) {
      const { fails, message } = readAuditReport(report(severity));
      expect([fails, message]).toEqual([true, expect.stringContaining(`some: ${severity}`)]);
    }
    for (const severity of ["info", "low", "moderate"]) {
      const { fails, message } = readAuditReport(report(severity));
      expect([fails, message]).toEqual([false, expect.stringContaining(`1 ${severity}`)]);
    }
  });

  it("does not fail if the registry has no endpoint for it, or does not answer", () => {
    const refusal = { message: "405 Method Not Allowed", statusCode: 405, error: { summary: "" } };
    for (const output of [JSON.stringify(refusal), "", "not JSON"]) {
      const { fails, message } = readAuditReport(output);
      expect([fails, message]).toEqual([false, expect.stringContaining("Not audited")]);
    }
  });
});
