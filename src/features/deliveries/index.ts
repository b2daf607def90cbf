export { type Ring, ringFor } from "./ring.ts";
