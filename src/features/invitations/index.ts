export { acceptWithAddress, INVALID_INVITATION, OTHER_ADDRESS } from "./acceptance.ts";
export { INVITATION_PATH } from "./model.ts";
