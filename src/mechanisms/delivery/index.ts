export {
  createDelivery,
  type Deliveries,
  type DeliveryOptions,
  type OutboundMessage,
} from "./delivery.ts";
export { SendFailure } from "./send-failure.ts";
