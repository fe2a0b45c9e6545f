// Ties standard input and output to a port of the test, which plays the server.
import { connect } from "node:net";

const socket = connect(Number(process.argv[2]), "127.0.0.1").setNoDelay();
process.stdin.pipe(socket);
socket.pipe(process.stdout);
socket.on("error", () => process.exit(1));
socket.on("close", () => process.exit(0));
