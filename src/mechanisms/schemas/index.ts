export { operation, schemaOf } from "./zod-schema.ts";
