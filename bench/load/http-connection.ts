/** One raw keep-alive connection with at most one request under way. Connects when it is first needed, and again after a close. */
import { connect, type Socket } from "node:net";
import { AnswerReader, type HttpAnswer } from "./http-answer.ts";

type Waiting = { onAnswer: (answer: HttpAnswer) => void; onError: (error: Error) => void };

export class HttpConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #reader = new AnswerReader();
  #waiting: Waiting | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends one whole request; exactly one of the two callbacks runs. */
  send(request: string, onAnswer: Waiting["onAnswer"], onError: Waiting["onError"]): void {
    this.#waiting = { onAnswer, onError };
    this.#socket ??= this.#open();
    this.#socket.write(request);
  }

  request(request: string): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => this.send(request, resolve, reject));
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#reader = new AnswerReader();
    socket.on("data", (data) => {
      try {
        const answer = this.#reader.feed(data);
        if (answer === undefined) return;
        if (/\r\nconnection: *close/i.test(answer.head)) this.#drop(socket);
        const waiting = this.#waiting;
        this.#waiting = undefined;
        waiting?.onAnswer(answer);
      } catch (error) {
        this.#fail(socket, error as Error);
      }
    });
    socket.on("error", (error) => this.#fail(socket, error));
    socket.on("close", () => this.#fail(socket, new Error("the connection was closed before the answer")));
    return socket;
  }

  #drop(socket: Socket): void {
    if (this.#socket === socket) this.#socket = undefined;
    socket.destroy();
  }

  #fail(socket: Socket, error: Error): void {
    if (this.#socket !== socket) return;
    this.#drop(socket);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.onError(error);
  }
}
