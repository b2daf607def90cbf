export { writeOutbox, writePing, writeRedeliveries, writeRedelivery } from "./fan-out.ts";
