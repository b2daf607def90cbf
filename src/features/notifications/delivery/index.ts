export { type DeliveryMessage, enqueueDeliveries } from "./queue.ts";
