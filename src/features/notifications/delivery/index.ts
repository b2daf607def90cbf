export { consume } from "./consumer.ts";
export { Endpoints } from "./endpoints.ts";
export { Hosts } from "./hosts.ts";
export { sweepDeliveries } from "./sweep.ts";
export { type DeliveryMessage, wakeConsumers } from "./wake-up.ts";
