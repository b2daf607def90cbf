export { consume, SlowEndpoints } from "./consumer.ts";
export { handleDeadLetters } from "./dead-letters.ts";
export { type DeliveryMessage, enqueueDeliveries } from "./queue-message.ts";
export { sweepDeliveries } from "./sweep.ts";
