export { type Ring, ringFor } from "./queue.ts";
