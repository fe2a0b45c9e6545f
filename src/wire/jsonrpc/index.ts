export { answerText, type ErrorBody, errorText, notificationText, requestText } from "./encode.ts";
export { isBatch, type Message, MessageFault, skimBatch, skimMessage } from "./message.ts";
