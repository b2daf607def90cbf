import { sql } from "drizzle-orm";
import type { VerifiedSource } from "../conditions/index.ts";
import type { CreatorType } from "./lifecycle.ts";

/** Who has created a deployment. */
export interface Creator {
  type: CreatorType;
  membershipId: string;
  trustId: string | null;
  /** What the trust has verified. */
  claims: Readonly<Record<string, string>> | null;
  /** What the job has run for, as its claims say. */
  jobSource: VerifiedSource | null;
  /** Of the trust, if it has given the key, or else of the account. Null: it has been deleted. */
  current: { name: string; issuer?: string } | null;
}

/** Who has executed a deployment. */
export interface Executor {
  poolId: string;
  poolName: string;
  /** Empty: the runner has sent none. */
  name: string;
}

/** JSON of `Creator`. */
export const CREATOR = sql<string>`json_object(
  'type', deployments.creator_type, 'membershipId', deployments.creator_membership_id,
  'trustId', deployments.creator_trust_id, 'jobSource', deployments.claims -> '$.source', 'claims', json_remove(deployments.claims, '$.source'),
  'current', json(case when deployments.creator_trust_id is null
    then (select json_object('name', accounts.display_name) from memberships
      join accounts on accounts.id = memberships.account_id where memberships.id = deployments.creator_membership_id)
    else (select json_object('name', trusts.name, 'issuer', trusts.issuer) from trusts
      where trusts.id = deployments.creator_trust_id) end))`.as("creator");

/** JSON of `Executor`, of the newest attempt that has started. Null: none has. */
export const EXECUTOR = sql<
  string | null
>`(select json_object('poolId', attempts.pool_id, 'name', attempts.runner_name,
    'poolName', (select runner_pools.name from runner_pools where runner_pools.id = attempts.pool_id))
  from attempts where attempts.deployment_id = deployments.id and attempts.started_at is not null
  order by attempts.epoch desc limit 1)`.as("executor");
