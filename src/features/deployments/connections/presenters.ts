import type { Connection } from "./store.ts";

/** For the changelog. Without the external ID, which only the project and the IAM role share. */
export function presentConnection(connection: Connection) {
  return {
    provider: connection.provider,
    account_id: connection.accountId,
    region: connection.region,
    role_arn: connection.roleArn ?? undefined,
  };
}
