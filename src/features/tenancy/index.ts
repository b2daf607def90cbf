export { findPayer } from "./organization-store.ts";
export { type Boundaries, findProtectedEnvironment } from "./protected-environment-store.ts";
export { findPool, POOL, type PoolRow } from "./runner-pool-store.ts";
export { getPool } from "./service.ts";
