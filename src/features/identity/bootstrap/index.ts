export { requireBootstrapToken } from "./service.ts";
