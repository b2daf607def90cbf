export { findPayer } from "./organization-store.ts";
export { findProtectedEnvironment, type Place } from "./protected-environment-store.ts";
export { findPool, POOL, type PoolRow } from "./runner-pool-store.ts";
export { getPool } from "./service.ts";
