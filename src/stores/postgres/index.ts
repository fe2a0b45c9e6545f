export { openPostgres, type PostgresOptions } from "./postgres.ts";
