export { presentWithExternalId } from "./presenters.ts";
