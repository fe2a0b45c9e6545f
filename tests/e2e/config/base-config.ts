import { join } from "node:path";
import { ROOT } from "../kit/program.ts";

const server = join(ROOT, "examples/hello/server.mjs");
const hello = `command = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(server)}]`;

/** The variables that the config below refers to. */
export const BASE_ENV = { CRM_AUTH: "Bearer hunter2", DOCS_TOKEN: "hunter2" };

/** A config as people have it: several servers, secrets, MGP's table, a catalog. One server really runs. */
export const BASE_CONFIG = `#:schema ./node_modules/isthmus/dist/isthmus.schema.json
# What the team shares.
[gateway]
sessions = "auto"
allowedHosts = ["box.local:7411", "box"]
allowedOrigins = ["https://app.example.org"]
pageSize = 100
maxBody = "1MiB"
timeout = "30s"
drain = "2s"

[[servers]]
id = "hello"
transport = "stdio"
${hello}

[[servers]]
id = "files"
transport = "stdio"
${hello}
prefix = "files"
restart = "never"
timeout = "5s"

[[servers]]
id = "docs.search"
transport = "stdio"
${hello}
maxSessions = 8

[servers.mgp]
extensions = ["security", "lifecycle"]
permissions_required = ["filesystem.read"]
trust_level = "standard"
restart_policy = "never"

[servers.env]
DOCS_TOKEN = "\${DOCS_TOKEN}"
PLAIN = "text"

[[servers]]
id = "crm"
transport = "http"
url = "http://127.0.0.1:9/mcp"
sessions = "shared"
restart = "never"

[servers.headers]
Authorization = { fromEnv = "CRM_AUTH" }

[[catalogs]]
id = "ops"
include = ["files.*", "hello.greet"]
exclude = ["files.count"]
`;
