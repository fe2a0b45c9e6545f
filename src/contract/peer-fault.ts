/** What a peer can cause as often as it likes. Without a stack: to make one costs more than all else that is done about it. */
export class PeerFault extends Error {
  constructor(message: string) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = limit;
  }
}
