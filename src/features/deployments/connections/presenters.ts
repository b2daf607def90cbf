import type { Connection } from "./model.ts";
import type { ConnectionColumns, ConnectionRow } from "./store.ts";

/** Without the external ID, which only the project and the IAM role share. */
export function presentConnection(columns: ConnectionColumns) {
  const connection = toConnection(columns);
  switch (connection.provider) {
    case "aws":
      return { ...connection, role_arn: connection.role_arn ?? undefined };
    case "kubernetes":
      return { ...connection, namespace: connection.namespace ?? undefined };
    case "ssh":
      return { ...connection, user: connection.user ?? undefined };
    default:
      return connection;
  }
}

/** For owners and runners. */
export function presentWithExternalId(row: ConnectionColumns & Pick<ConnectionRow, "externalId">) {
  const connection = presentConnection(row);
  if (connection.provider !== "aws") return connection;
  return { ...connection, ...(row.externalId !== null && { external_id: row.externalId }) };
}

export type PresentedConnection = ReturnType<typeof presentWithExternalId>;

export function toColumns(connection: Connection): ConnectionColumns {
  const { provider } = connection;
  if (provider === "aws") {
    const { account_id: accountId, region, role_arn: roleArn } = connection;
    return { provider, accountId, region, roleArn, settings: null };
  }
  const { provider: _, ...settings } = connection;
  return { provider, accountId: "", region: "", roleArn: null, settings: JSON.stringify(settings) };
}

function toConnection(columns: ConnectionColumns): Connection {
  const { provider, accountId, region, roleArn, settings } = columns;
  if (provider === "aws") return { provider, account_id: accountId, region, role_arn: roleArn };
  return { provider, ...(JSON.parse(settings ?? "{}") as object) } as Connection;
}
