import { GatewayError, LOCAL, type Operation } from "../../contract/index.ts";

/** One operation as whoever has the stores of the gateway in their hands. Resolves with the body of its answer. */
export async function runAlone(operations: readonly Operation[], id: string, input: unknown): Promise<unknown> {
  const operation = operations.find((one) => one.id === id);
  if (!operation) throw new GatewayError("NO_SUCH_TARGET", { message: `There is no operation ${id}.` });
  const checked = operation.input.check(input);
  if ("problems" in checked) {
    const problems = checked.problems.map(({ path, message }) => `${path.replace(/^\/(body\/)?/, "")}: ${message}`);
    throw new GatewayError("BAD_CALL", { message: problems.join("; ") });
  }
  const { body } = await operation.run(checked.value, { principal: LOCAL });
  return body;
}
