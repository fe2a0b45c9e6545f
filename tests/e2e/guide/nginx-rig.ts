/** nginx as a distribution sets it up, in a folder: it reads conf.d/*.conf of the page, and `nginx` speaks to it. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../kit/eventually.ts";
import { pathOf } from "../../needs/need.ts";
import { nginx } from "../../needs/programs.ts";
import type { Command, PageRunner } from "./page-runner.ts";

const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

export class NginxRig implements AsyncDisposable {
  readonly #running: Command;

  private constructor(running: Command) {
    this.#running = running;
  }

  static async start(page: PageRunner): Promise<NginxRig> {
    const folder = join(page.work, "..", "nginx");
    mkdirSync(folder);
    mkdirSync(join(page.work, "conf.d"));
    // The workers run as another user when nginx is started by root.
    for (const path of [join(page.work, ".."), folder]) chmodSync(path, 0o755);
    writeFileSync(join(folder, "nginx.conf"), describe(folder, join(page.work, "conf.d")));
    const command = `'${pathOf(nginx)}' -p '${folder}' -e '${folder}/error.log' -c '${folder}/nginx.conf'`;
    page.addProgram("nginx", `[ "$*" = "-s reload" ] || exec ${command} "$@"\n${reload(command, folder)}`);
    const running = page.start(["sh", "-c", "exec nginx -g 'daemon off;'"]);
    const hasEnded = running.ended.then((code) => {
      throw new Error(`nginx ended with ${code}`);
    });
    const isUp = async () => existsSync(join(folder, "nginx.pid"));
    await Promise.race([hasEnded, eventually(isUp, (isIt) => isIt)]);
    hasEnded.catch(() => {});
    return new NginxRig(running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.stop();
  }
}

/** Ends when the workers with the former configuration have: a reader is slower than they are, a test is not. */
function reload(command: string, folder: string): string {
  return `master=$(cat '${folder}/nginx.pid')
former=$(cat "/proc/$master/task/$master/children" 2>/dev/null)
${command} -s reload || exit $?
for worker in $former; do
  tries=0
  while [ -d "/proc/$worker" ] && [ $((tries += 1)) -le 200 ]; do sleep 0.02; done
done`;
}

function describe(folder: string, sites: string): string {
  const temporary = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`);
  return `worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${temporary.join("\n  ")}
  include ${sites}/*.conf;
}
`;
}
