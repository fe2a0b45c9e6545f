import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Candidate, findFreePort, makeTempDir, startCandidate } from "./candidate.ts";

/** One worker, connections kept on both sides, no log: the least a hop through a good proxy costs. */
function makeConfig(directory: string, port: number, upstreamPort: number): string {
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  return `daemon off;
worker_processes 1;
worker_rlimit_nofile 8192;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log crit;
events { worker_connections 4096; }
http {
  access_log off;
  ${temp.join("\n  ")}
  keepalive_requests 100000000;
  upstream up { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://up;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
}

export const nginx: Candidate = {
  name: "nginx",
  kind: "proxy",
  upstreams: ["http"],
  missing() {
    try {
      execFileSync("nginx", ["-v"], { stdio: "ignore" });
      return undefined;
    } catch {
      return "nginx is not installed (Debian: apt-get install nginx-light)";
    }
  },
  async start(upstream) {
    if (upstream.kind !== "http") throw new Error("nginx needs an HTTP upstream");
    const directory = makeTempDir();
    chmodSync(directory, 0o755); // The worker runs as another user when nginx is started by root.
    const port = await findFreePort();
    const config = join(directory, "nginx.conf");
    writeFileSync(config, makeConfig(directory, port, upstream.port));
    const args = ["-p", directory, "-e", join(directory, "error.log"), "-c", config];
    return startCandidate({ command: "nginx", args, port, directory });
  },
};
