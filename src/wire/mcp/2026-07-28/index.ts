export {
  addEnvelope,
  ENVELOPE_KEYS,
  type Envelope,
  readEnvelope,
  SERVER_INFO,
  SUBSCRIPTION_ID,
  stripEnvelope,
  TASKS_EXTENSION,
} from "./envelope.ts";
export {
  decodeHeader,
  encodeHeader,
  MAX_PARAM_HEADERS,
  NAMED_METHODS,
  type ParamHeader,
  paramHeaders,
  paramText,
} from "./headers.ts";
export { revision20260728 } from "./revision.ts";
