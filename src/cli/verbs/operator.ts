import { defaultKeyFile, makeOperatorKey, publicLine, readOperatorKey } from "../operator/operator-key.ts";
import { makeOperatorToken, operatorTokenFile } from "../operator/operator-token.ts";
import { print, printJson } from "../output/console.ts";
import { shortPath } from "../output/short-path.ts";

export type OperatorOptions = { readonly key?: string; readonly ssh?: string; readonly json?: boolean };

/** Makes the key by which this person approves calls, or takes one that is there, and says how a gateway comes to trust it. */
export function initOperator(options: OperatorOptions): void {
  const chosen = options.key ?? defaultKeyFile();
  const { file, key } = options.ssh === undefined ? makeOperatorKey(chosen) : readOperatorKey(options.ssh);
  const anchor = publicLine(key);
  if (options.json) return printJson({ file, key: anchor });
  print(`Your key is in ${shortPath(file)}. Keep it where no agent can read it.`);
  print();
  print("A gateway trusts it with these lines in its isthmus.toml:");
  print();
  print("[[gate.anchors]]");
  print(`key = ${JSON.stringify(anchor)}`);
}

/** By which a gateway knows whoever runs it. */
export function printToken({ json }: OperatorOptions): void {
  const token = makeOperatorToken();
  if (json) return printJson({ file: operatorTokenFile(), token });
  print(token);
}
