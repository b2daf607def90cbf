const SEVERITIES = ["critical", "high", "moderate", "low", "info"] as const;

type Severity = (typeof SEVERITIES)[number];

const FAILING: readonly Severity[] = ["critical", "high"];

/** The part of `npm audit --json` that is read. An error of the registry has none of it. */
interface AuditReport {
  auditReportVersion?: number;
  metadata?: { vulnerabilities: Record<Severity, number> };
  vulnerabilities?: Record<string, { name: string; severity: Severity }>;
}

export interface AuditResult {
  fails: boolean;
  message: string;
}

/** Not every registry has the endpoint, and one without it fails nothing. */
export function readAuditReport(json: string): AuditResult {
  const { auditReportVersion, metadata, vulnerabilities = {} } = parse(json);
  if (!auditReportVersion || !metadata) {
    return { fails: false, message: "Not audited: the registry did not answer with a report." };
  }
  const counts = SEVERITIES.map((severity) => `${metadata.vulnerabilities[severity]} ${severity}`);
  const failing = Object.values(vulnerabilities).filter(({ severity }) =>
    FAILING.includes(severity),
  );
  const lines = failing.map(({ name, severity }) => `  ${name}: ${severity}`);
  const summary = `Known vulnerabilities: ${counts.join(", ")}.`;
  return { fails: failing.length > 0, message: [summary, ...lines].join("\n") };
}

function parse(json: string): AuditReport {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}
