import type { Schemas } from "../../api.ts";
import { Pending } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { formatBytes, formatNumber, humanize } from "../../format.ts";
import { useQuery } from "../../query.ts";
import type { OrganizationTabProps } from "../tabs.ts";

export function UsageTab({ path }: OrganizationTabProps) {
  const { data, error } = useQuery("/v1/orgs/{org_id}/usage", { path });
  if (!data) return <Pending error={error} />;
  const { bytes, records } = data;
  return (
    <Section title="Usage">
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Records</th>
              <th scope="col">Used</th>
              <th scope="col">Of</th>
            </tr>
          </thead>
          <tbody>
            <UsageRow
              label="Stored data"
              used={bytes.used}
              allowed={bytes.allowed}
              format={formatBytes}
            />
            {Object.entries(records).map(([name, usage]: [string, Schemas["RecordUsage"]]) => (
              <UsageRow
                key={name}
                label={humanize(name)}
                used={usage.used}
                allowed={usage.allowed}
                format={formatNumber}
              />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

interface UsageRowProps {
  label: string;
  used: number;
  /** Undefined: only the stored data limits it. */
  allowed: number | undefined;
  format: (value: number) => string;
}

function UsageRow({ label, used, allowed, format }: UsageRowProps) {
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>
        {format(used)}
        {allowed !== undefined && (
          <meter aria-label={`Usage of ${label}`} value={used} max={allowed} high={allowed * 0.8} />
        )}
      </td>
      <td>{allowed === undefined ? "No limit of its own" : format(allowed)}</td>
    </tr>
  );
}
