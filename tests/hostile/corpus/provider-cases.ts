/** What a server may answer to a call that is wrong, and what becomes of the call. */

export type ProviderCase = {
  readonly name: string;
  /** Written to the socket as they are; "@ID@" is the id of the request. */
  readonly bytes: string;
  /** What happens to the connection then. Default: closed. */
  readonly connection?: "closed" | "reset" | "held";
  /** ok, the code of our error, or `fault` and the server's own number. */
  readonly outcome: string;
};

/** The server of the corpus has `maxMessage = "256KB"` and `timeout = "1s"`. */
export const MAX_MESSAGE = 256_000;

const GOOD = '{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"text","text":"good"}]}}';
// The id has one to four digits: a length counted on the template would lie, so bodies are framed by the close.
const answer = (status: string, type: string, body: string, more = "") =>
  `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nConnection: close\r\n${more}\r\n${body}`;
const json = (body: string, status = "200 OK") => answer(status, "application/json", body);
const sse = (...data: string[]) =>
  answer("200 OK", "text/event-stream", data.map((one) => `data: ${one}\n\n`).join(""));
const notice = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}';
/** Two readers could see two tasks. */
const AMBIGUOUS =
  '"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"},"io.modelcontextprotocol/related-task":{"taskId":"b"}}';
const chunked = (body: string) => answer("200 OK", "application/json", body, "Transfer-Encoding: chunked\r\n");

export const PROVIDER_CASES: readonly ProviderCase[] = [
  // HTTP
  { name: "an answer as JSON", bytes: json(GOOD), outcome: "ok" },
  {
    name: "a page of HTML with 500",
    bytes: answer("500 Oops", "text/html", "<h1>secret-stack</h1>"),
    outcome: "PROVIDER_FAILED",
  },
  { name: "a page of HTML with 200", bytes: answer("200 OK", "text/html", "<h1>hi</h1>"), outcome: "PROVIDER_FAILED" },
  {
    name: "202 to a request",
    bytes: "HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    outcome: "PROVIDER_FAILED",
  },
  { name: "204", bytes: "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", outcome: "PROVIDER_FAILED" },
  {
    name: "a redirect to elsewhere",
    bytes: "HTTP/1.1 307 Go\r\nLocation: http://169.254.169.254/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    outcome: "PROVIDER_FAILED",
  },
  { name: "429", bytes: answer("429 Slow", "text/plain", "slow down"), outcome: "PROVIDER_FAILED" },
  { name: "401", bytes: answer("401 No", "text/plain", "who are you"), outcome: "PROVIDER_UNREACHABLE" },
  { name: "403", bytes: answer("403 No", "text/plain", "not you"), outcome: "NOT_ALLOWED" },
  { name: "404 without a session", bytes: answer("404 No", "text/plain", "where"), outcome: "PROVIDER_FAILED" },
  { name: "interim answers first", bytes: `HTTP/1.1 103 Early\r\n\r\n${json(GOOD)}`, outcome: "ok" },
  {
    name: "interim answers without end",
    bytes: "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000),
    outcome: "PROVIDER_FAILED",
  },
  { name: "another protocol", bytes: "HTTP/1.1 101 Switch\r\nUpgrade: websocket\r\n\r\n", outcome: "PROVIDER_FAILED" },
  { name: "no HTTP at all", bytes: "hello there", outcome: "PROVIDER_FAILED" },
  { name: "an unknown version of HTTP", bytes: "HTTP/3.7 200 OK\r\n\r\n", outcome: "PROVIDER_FAILED" },
  { name: "a status that is no number", bytes: "HTTP/1.1 abc OK\r\n\r\n", outcome: "PROVIDER_FAILED" },
  { name: "bare line feeds in the head", bytes: json(GOOD).replace("\r\n", "\n"), outcome: "PROVIDER_FAILED" },
  {
    name: "a head beyond its bound",
    bytes: answer("200 OK", "application/json", GOOD, `X-Long: ${"x".repeat(40_000)}\r\n`),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "two lengths",
    bytes: answer("200 OK", "application/json", GOOD, "Content-Length: 5\r\nContent-Length: 6\r\n"),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a length that is no number",
    bytes: answer("200 OK", "application/json", GOOD, "Content-Length: 0x10\r\n"),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a length too short",
    bytes: answer("200 OK", "application/json", GOOD, "Content-Length: 9\r\n"),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a length too long",
    bytes: answer("200 OK", "application/json", GOOD, "Content-Length: 5000\r\n"),
    outcome: "OUTCOME_UNKNOWN",
  },
  { name: "a chunk size that is no number", bytes: chunked(`xyz\r\n${GOOD}\r\n0\r\n\r\n`), outcome: "PROVIDER_FAILED" },
  { name: "a chunk longer than its size", bytes: chunked(`5\r\n${GOOD}\r\n0\r\n\r\n`), outcome: "PROVIDER_FAILED" },
  { name: "chunks without an end", bytes: chunked('5\r\n{"jso\r\n'), outcome: "OUTCOME_UNKNOWN" },
  {
    name: "a packed body",
    bytes: answer("200 OK", "application/json", "\x1f\x8b\x08", "Content-Encoding: gzip\r\n"),
    outcome: "PROVIDER_FAILED",
  },
  // Death
  { name: "nothing, and a close", bytes: "", outcome: "OUTCOME_UNKNOWN" },
  { name: "nothing, and a reset", bytes: "", connection: "reset", outcome: "OUTCOME_UNKNOWN" },
  { name: "half a head, and a close", bytes: "HTTP/1.1 200 OK\r\nContent-", outcome: "OUTCOME_UNKNOWN" },
  {
    name: "half a body, and a reset",
    bytes: answer("200 OK", "application/json", '{"jsonrpc"', "Content-Length: 500\r\n"),
    connection: "reset",
    outcome: "OUTCOME_UNKNOWN",
  },
  { name: "half a stream, and a close", bytes: sse(notice), outcome: "OUTCOME_UNKNOWN" },
  { name: "nothing, and no close", bytes: "", connection: "held", outcome: "DEADLINE_PASSED" },
  {
    name: "a head, and silence",
    bytes: answer("200 OK", "application/json", ""),
    connection: "held",
    outcome: "DEADLINE_PASSED",
  },
  { name: "a stream, and silence", bytes: sse(notice), connection: "held", outcome: "DEADLINE_PASSED" },
  {
    name: "a stream of nothing but comments",
    bytes: answer("200 OK", "text/event-stream", ": hi\n\n".repeat(1000)),
    connection: "held",
    outcome: "DEADLINE_PASSED",
  },
  // JSON and JSON-RPC
  { name: "an empty body", bytes: json(""), outcome: "PROVIDER_FAILED" },
  { name: "a body that is no JSON", bytes: json("yes"), outcome: "PROVIDER_FAILED" },
  { name: "a body in latin1", bytes: json(GOOD.replace("good", "g\xf6\xf6d")), outcome: "PROVIDER_FAILED" },
  {
    name: "a body beyond maxMessage",
    bytes: json(GOOD.replace("good", "x".repeat(MAX_MESSAGE))),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a body nested too deep",
    bytes: json(GOOD.replace('"good"', "[".repeat(200) + "]".repeat(200))),
    outcome: "PROVIDER_FAILED",
  },
  { name: "an empty batch", bytes: json("[]"), outcome: "PROVIDER_FAILED" },
  {
    name: "the answer in a batch, of which its revision knows nothing",
    bytes: json(`[${notice},${GOOD}]`),
    outcome: "PROVIDER_FAILED",
  },
  { name: "an answer to another request", bytes: json(GOOD.replace("@ID@", "999999")), outcome: "PROVIDER_FAILED" },
  { name: "an answer to the id as a string", bytes: json(GOOD.replace("@ID@", '"@ID@"')), outcome: "PROVIDER_FAILED" },
  { name: "an answer to null", bytes: json(GOOD.replace("@ID@", "null")), outcome: "PROVIDER_FAILED" },
  { name: "two ids", bytes: json(GOOD.replace('"id":@ID@', '"id":@ID@,"id":1')), outcome: "PROVIDER_FAILED" },
  {
    name: "a repeated result",
    bytes: json(GOOD.replace('"result"', '"result":{},"result"')),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "an ambiguous _meta in the result",
    bytes: json(GOOD.replace('"content"', `${AMBIGUOUS},"content"`)),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "an ambiguous _meta in the result of a stream",
    bytes: sse(GOOD.replace('"content"', `${AMBIGUOUS},"content"`)),
    connection: "held",
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a result and an error",
    bytes: json(GOOD.replace('"result"', '"error":{"code":1,"message":"x"},"result"')),
    outcome: "PROVIDER_FAILED",
  },
  { name: "an array for a result", bytes: json('{"jsonrpc":"2.0","id":@ID@,"result":[]}'), outcome: "PROVIDER_FAILED" },
  {
    name: "a string for an error",
    bytes: json('{"jsonrpc":"2.0","id":@ID@,"error":"bad"}'),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "an error of its own",
    bytes: json('{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32050,"message":"mine"}}'),
    outcome: "fault -32050",
  },
  {
    name: "an error of its own with 400",
    bytes: json('{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32050,"message":"mine"}}', "400 Bad"),
    outcome: "fault -32050",
  },
  {
    name: "an error to nobody with 400",
    bytes: json('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}}', "400 Bad"),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a request instead of an answer",
    bytes: json('{"jsonrpc":"2.0","id":@ID@,"method":"ping"}'),
    outcome: "PROVIDER_FAILED",
  },
  // Streams
  { name: "a stream with the answer", bytes: sse(notice, GOOD), outcome: "ok" },
  { name: "a stream that answers twice", bytes: sse(GOOD, GOOD.replace("good", "bad")), outcome: "ok" },
  { name: "a stream that answers others first", bytes: sse(GOOD.replace("@ID@", "999999"), GOOD), outcome: "ok" },
  { name: "a stream that answers only others", bytes: sse(GOOD.replace("@ID@", "999999")), outcome: "OUTCOME_UNKNOWN" },
  {
    name: "a stream with a question first",
    bytes: sse('{"jsonrpc":"2.0","id":1,"method":"roots/list"}', GOOD),
    outcome: "ok",
  },
  {
    name: "a stream with a method of nobody first",
    bytes: sse('{"jsonrpc":"2.0","id":1,"method":"toString"}', GOOD),
    outcome: "ok",
  },
  { name: "a stream with 5,000 notices first", bytes: sse(...Array(5000).fill(notice), GOOD), outcome: "ok" },
  { name: "a stream with text in it", bytes: sse("hello", GOOD), outcome: "PROVIDER_FAILED" },
  {
    name: "a stream with an ambiguous _meta",
    bytes: sse(notice.replace('"level"', `${AMBIGUOUS},"level"`), GOOD),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a stream with an event beyond maxMessage",
    bytes: sse("x".repeat(MAX_MESSAGE + 1), GOOD),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a stream with a line that never ends",
    bytes: answer("200 OK", "text/event-stream", "x".repeat(MAX_MESSAGE * 2)),
    outcome: "PROVIDER_FAILED",
  },
  {
    name: "a stream with carriage returns",
    bytes: sse(GOOD).replace(`data: ${GOOD}\n\n`, `: c\revent: message\rdata: ${GOOD}\r\r`),
    outcome: "ok",
  },
  { name: "a stream with a byte order mark", bytes: sse(GOOD).replace("data:", "\xef\xbb\xbfdata:"), outcome: "ok" },
  {
    name: "a stream with events of another type",
    bytes: answer("200 OK", "text/event-stream", `event: other\ndata: ${GOOD}\n\ndata: ${GOOD}\n\n`),
    outcome: "ok",
  },
  {
    name: "a stream that ends within the answer",
    bytes: answer("200 OK", "text/event-stream", `data: ${GOOD}\n`),
    outcome: "OUTCOME_UNKNOWN",
  },
];
