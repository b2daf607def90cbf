export { writeOutbox, writePing, writeRedelivery } from "./fan-out.ts";
