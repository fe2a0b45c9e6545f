export { type ConsentFront, createConsentFront } from "./consent-front.ts";
