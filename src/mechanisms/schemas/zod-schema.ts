import * as z from "zod";
import type { Checked, Operation, Schema } from "../../contract/index.ts";

/** A schema of the gateway's own, written in code. */
export function schemaOf<Value>(type: z.ZodType<Value>): Schema<Value> {
  let json: object | undefined;
  return {
    get json() {
      json ??= z.toJSONSchema(type, { target: "draft-2020-12", io: "input" });
      return json;
    },
    check(value): Checked<Value> {
      const checked = type.safeParse(value);
      if (checked.success) return { value: checked.data };
      return {
        problems: checked.error.issues.map(({ path, message }) => ({
          path: path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
          message,
        })),
      };
    },
  };
}

/** Operations of all inputs in one list. */
export function operation<Input, Output>(declared: Operation<Input, Output>): Operation {
  return declared as unknown as Operation;
}
