import type { Database } from "../../../db/client.ts";
import { accounts } from "../../tenancy/member-table.ts";
import { bootstraps } from "./table.ts";

export function findBootstrap(db: Database) {
  return db.select({ only: bootstraps.only }).from(bootstraps);
}

/** Violates the primary key for every caller but the first. */
export function insertBootstrap(db: Database, organizationId: string, now: number) {
  return db.insert(bootstraps).values({ only: 1, organizationId, createdAt: now });
}

export function insertFirstAccount(db: Database, account: typeof accounts.$inferInsert) {
  return db.insert(accounts).values(account);
}
