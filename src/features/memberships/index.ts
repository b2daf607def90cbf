export { toNewPerson } from "./presenters.ts";
export { AccountInput, OrgRole, Profile } from "./schemas.ts";
export { newAccount } from "./service.ts";
export { ACCOUNT_SIZE, type NewPerson } from "./store.ts";
