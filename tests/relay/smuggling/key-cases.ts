/** Keys that two readers take differently: repeated, escaped, or in another case. */
import { callText, refused, type SmugglingCase, same, utf8 } from "./case.ts";

const SAFE = '{"name":"@safe"}';
const DANGER = '{"name":"@danger"}';
const head = '"jsonrpc":"2.0","id":7,"method":"tools/call"';
const params = (text: string) => callText({ params: text });

export const KEY_CASES: readonly SmugglingCase[] = [
  ...refused({
    "method twice, the harmless one first": callText({ method: '"tools/list","method":"tools/call"' }),
    "method twice, the harmless one last": callText({ method: '"tools/call","method":"tools/list"' }),
    "method twice, both equal": callText({ method: '"tools/call","method":"tools/call"' }),
    "method twice, far apart": callText({ more: ',"method":"ping"' }),
    "params twice, safe first": `{${head},"params":${SAFE},"params":${DANGER}}`,
    "params twice, safe last": `{${head},"params":${DANGER},"params":${SAFE}}`,
    "params twice, the second null": `{${head},"params":${SAFE},"params":null}`,
    "id twice": callText({ id: '7,"id":8' }),
    "jsonrpc twice": callText({ more: ',"jsonrpc":"2.0"' }),
    "name twice, safe first": params('{"name":"@safe","name":"@danger"}'),
    "name twice, safe last": params('{"name":"@danger","name":"@safe"}'),
    "name twice, both equal": params('{"name":"@safe","name":"@safe"}'),
    "name thrice, with arguments between": params(
      '{"name":"@safe","arguments":{},"name":"@danger","x":1,"name":"@safe"}',
    ),
    "arguments twice": params('{"name":"@safe","arguments":{"a":1},"arguments":{"a":2}}'),
    "_meta twice": params('{"name":"@safe","_meta":{},"_meta":{"progressToken":1}}'),
    "progress token twice": params('{"name":"@safe","_meta":{"progressToken":1,"progressToken":2}}'),
    "progress token twice, one escaped": params('{"name":"@safe","_meta":{"progressToken":1,"progress\\u0054oken":2}}'),
    "escaped name after the plain one": params('{"name":"@safe","\\u006eame":"@danger"}'),
    "escaped name before the plain one": params('{"\\u006eame":"@danger","name":"@safe"}'),
    "escaped name alone": params('{"\\u006eame":"@safe"}'),
    "name escaped with upper-case digits": params('{"\\u006Eame":"@safe"}'),
    "escaped method alone": '{"jsonrpc":"2.0","id":7,"\\u006dethod":"tools/call","params":{"name":"@safe"}}',
    "escaped method beside the plain one": callText({ more: ',"m\\u0065thod":"ping"' }),
    "escaped params beside the plain ones": callText({ more: `,"p\\u0061rams":${DANGER}` }),
    "escaped id beside the plain one": callText({ more: ',"\\u0069d":8' }),
    "escaped arguments": params('{"name":"@safe","argument\\u0073":{}}'),
    "escaped _meta": params('{"name":"@safe","_met\\u0061":{"progressToken":1}}'),
    "needless escape of a slash in a key": callText({ more: ',"a\\/b":1' }),
    "only Name": params('{"Name":"@safe"}'),
    "only NAME": params('{"NAME":"@safe"}'),
    "only Method": '{"jsonrpc":"2.0","id":7,"Method":"tools/call","params":{"name":"@safe"}}',
    "only Params": `{${head},"Params":${SAFE}}`,
    "Name beside name": params('{"Name":"@danger","name":"@safe"}'),
    "METHOD beside method": callText({ more: ',"METHOD":"tools/list"' }),
    "Params beside params": callText({ more: `,"Params":${DANGER}` }),
    "name beside Name": params('{"name":"@safe","Name":"@danger"}'),
    "params with a long s beside params": utf8(callText({ more: `,"param\u017f":${DANGER}` })),
    "Result beside params": callText({ more: ',"Result":{}' }),
    "only Arguments": params('{"name":"@safe","Arguments":{"a":1}}'),
    "only arguments with a long s": utf8(params('{"name":"@safe","argument\u017f":{"a":1}}')),
    "_Meta instead of _meta": params('{"name":"@safe","_Meta":{"progressToken":1}}'),
    "meta instead of _meta": params('{"name":"@safe","meta":{"progressToken":1}}'),
    "progress token in snake case": params('{"name":"@safe","_meta":{"progress_token":1}}'),
    "RequestState instead of requestState": params('{"name":"@safe","RequestState":"x"}'),
    "key with a NUL behind it": params('{"name\\u0000":"@safe"}'),
    "key with a space behind it": params('{"name ":"@safe"}'),
  }),
  ...same({
    "name again inside the arguments": params('{"name":"@safe","arguments":{"name":"@danger","name":"x"}}'),
    "name again inside _meta, twice": params('{"_meta":{"name":"@danger","name":"x"},"name":"@safe"}'),
    "escaped progress token alone": params('{"name":"@safe","_meta":{"progress\\u0054oken":1}}'),
    "a whole call inside the arguments": params(`{"arguments":${callText({ params: DANGER })},"name":"@safe"}`),
    "a whole call inside a string": params('{"arguments":{"x":"\\"},\\"name\\":\\"@danger\\""},"name":"@safe"}'),
    "members that JSON-RPC does not have": callText({ more: `,"rider":${DANGER},"_meta":{}` }),
    "__proto__ beside name": params('{"__proto__":{"name":"@danger"},"name":"@safe"}'),
  }),
];
