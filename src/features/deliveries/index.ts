export { type Payload, payloadOf } from "./payload.ts";
export { type Ring, ringFor } from "./ring.ts";
