export { acceptWithAddress, INVALID_INVITATION, OTHER_ADDRESS } from "./acceptance.ts";
