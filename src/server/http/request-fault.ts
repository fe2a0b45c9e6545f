/** Why a request cannot be taken. The message is shown to the client; the connection closes after it. */
export class RequestFault extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
