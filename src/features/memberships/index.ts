export { toNewAccount } from "./presenters.ts";
export { AccountInput, OrgRole, PERSON } from "./schemas.ts";
export { toAccountRow } from "./service.ts";
export { ACCOUNT_SIZE, type NewAccount } from "./store.ts";
