export {
  acceptAsInvited,
  acceptWithAddress,
  declineInvitation,
  INVALID_INVITATION,
  OTHER_ADDRESS,
} from "./acceptance.ts";
export { isUnanswered } from "./store.ts";
