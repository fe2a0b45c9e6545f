/** Files of the contract lane that `npm run test:long` runs instead of `npm test`: they take long, each for its reason. */
export const LONG_CONTRACT: Readonly<Record<string, string>> = {
  "src/server/hop/processes.contract.test.ts": "starts processes, stops and kills them, and waits for leases to end",
  "tests/contract/records/kills.test.ts": "starts a process again and again, and kills it",
  "tests/contract/records/postgres.test.ts": "waits for databases that stand still, end and come back",
};
