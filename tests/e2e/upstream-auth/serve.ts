/** The protected server of the guide, on the port that the guide names, until it is stopped. */
import { Issuer } from "./issuer.ts";
import { ProtectedServer } from "./protected-server.ts";

const issuer = await Issuer.start();
await ProtectedServer.start(issuer.url, 9000);
process.stdout.write("ready\n");
