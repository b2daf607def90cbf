export { toNewPerson } from "./input.ts";
export { AccountInput, OrgRole, Profile } from "./schemas.ts";
export { type NewPerson, newAccount } from "./service.ts";
export { ACCOUNT_SIZE } from "./store.ts";
