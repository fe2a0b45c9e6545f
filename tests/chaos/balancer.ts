/** nginx in front of the gateways, dealing requests in turn unless it is told how to choose. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, greet } from "../kit/servers/test-server.ts";
import { pathOf } from "../needs/need.ts";
import { nginx } from "../needs/programs.ts";

export type Balancer = {
  readonly origin: string;
  /** What it could not do, in its own words: which process it asked, and what became of it. */
  errors(): readonly string[];
  stop(): Promise<void>;
};

/** A path that nginx answers by itself. */
export const PROBE = "/nginx-itself";

export type BalancerOptions = {
  /** How one is chosen, as a line of nginx's `upstream`, such as `hash $cookie_gw_route consistent;`. */
  readonly choose?: string;
  /** Further lines of its `http`. */
  readonly http?: string;
  /** Further lines of its `location`. */
  readonly location?: string;
};

/** A gateway that is away is tried again at once; a request that may have reached one is never sent to another. */
function config(folder: string, port: number, gateways: readonly number[], options: BalancerOptions): string {
  const servers = gateways.map((gateway) => `server 127.0.0.1:${gateway} max_fails=0;`).join(" ");
  return `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log error;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  ${options.http ?? ""}
  upstream gateways { ${options.choose ?? ""} ${servers} keepalive 32; }
  server {
    listen 127.0.0.1:${port};
    location = ${PROBE} { return 204; }
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_buffering off;
      proxy_read_timeout 300s;
      proxy_next_upstream error;
      add_header X-Served-By $upstream_addr always;
      ${options.location ?? ""}
    }
  }
}
`;
}

/** Each answer says in `X-Served-By` which of them gave it. */
export async function startBalancer(gateways: readonly number[], options: BalancerOptions = {}): Promise<Balancer> {
  const program = pathOf(nginx);
  const folder = mkdtempSync(join(tmpdir(), "isthmus-nginx-"));
  const port = await freePort();
  writeFileSync(join(folder, "nginx.conf"), config(folder, port, gateways, options));
  const child = spawn(program, ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  const onExit = () => child.kill("SIGKILL");
  process.once("exit", onExit);
  while ((await greet(port, "GET / HTTP/1.0\r\n\r\n")) === "") {
    if (child.exitCode !== null) throw new Error("nginx did not start");
  }
  return {
    origin: `http://127.0.0.1:${port}`,
    errors: () => readFileSync(join(folder, "error.log"), "utf8").split("\n").filter(Boolean),
    async stop() {
      process.off("exit", onExit);
      const gone = once(child, "exit");
      child.kill("SIGQUIT");
      child.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
