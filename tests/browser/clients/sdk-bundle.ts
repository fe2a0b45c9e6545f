import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { partPath } from "../../e2e/real-parts/part.ts";

/** The script of a page that is an MCP client, as a web application would ship it. */
export async function bundleSdkPage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./sdk-page.mjs", import.meta.url))],
    nodePaths: [partPath("")],
    bundle: true,
    platform: "browser",
    format: "iife",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}
