export { type NewDelivery, writeDelivery, writeOutbox } from "./fan-out.ts";
