import type { Json } from "../sdk.ts";
import { type Call, rpcError } from "./call.ts";
import { PNG } from "./samples.ts";

type Resource = { readonly listed: Json & { uri: string; mimeType: string }; readonly body: Json };

const resources: readonly Resource[] = [
  {
    listed: {
      uri: "test://static-text",
      name: "Static text",
      description: "A fixed text",
      mimeType: "text/plain",
    },
    body: { text: "This is the content of the static text resource." },
  },
  {
    listed: {
      uri: "test://static-binary",
      name: "Static binary",
      description: "A fixed image",
      mimeType: "image/png",
    },
    body: { blob: PNG },
  },
  {
    listed: {
      uri: "test://watched-resource",
      name: "Watched resource",
      description: "A text that can be subscribed to",
      mimeType: "text/plain",
    },
    body: { text: "Watched resource content" },
  },
];

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

export function listResources(): Json {
  return { resources: resources.map(({ listed }) => listed) };
}

export function listTemplates(): Json {
  const template = {
    uriTemplate: "test://template/{id}/data",
    name: "Template data",
    description: "Data of one id",
    mimeType: "application/json",
  };
  return { resourceTemplates: [template] };
}

export function readResource({ params }: Call): Json {
  const uri = String(params.uri);
  const id = TEMPLATE.exec(uri)?.[1];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: "application/json", text }] };
  }
  const { listed, body } = findResource(uri);
  return { contents: [{ uri, mimeType: listed.mimeType, ...body }] };
}

/** Throws for a resource that does not exist. */
export function findResource(uri: string): Resource {
  const found = resources.find(({ listed }) => listed.uri === uri);
  if (found === undefined) throw rpcError(-32002, "Resource not found", { uri });
  return found;
}
