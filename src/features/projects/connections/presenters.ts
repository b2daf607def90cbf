import type { Connection } from "./store.ts";

/** A connection as the changelog shows it: the external ID is between its project and the role. */
export function presentConnection(connection: Connection) {
  return {
    provider: connection.provider,
    account_id: connection.accountId,
    region: connection.region,
    role_arn: connection.roleArn ?? undefined,
  };
}
