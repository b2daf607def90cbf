export {
  isAmong,
  nameMembers,
  requireAccess,
  requireProjectAuthority,
  requireRuleAuthority,
} from "./service.ts";
export { listMembers, rulesOf, selectRules } from "./store.ts";
