export { findPool, POOL, type PoolRow } from "./runner-pool-store.ts";
export { getPool } from "./service.ts";
