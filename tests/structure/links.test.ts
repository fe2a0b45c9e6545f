import { posix } from "node:path";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { hasPath, listFiles, readText } from "./repo-files.ts";

const PAGES = [...listFiles("docs", ".md"), ...listFiles("changes", ".md"), "README.md", "CONTRIBUTING.md"];

/** What a page links to inside the repository: paths from its root, with what stands behind `#`. */
function linksOf(page: string, markdown: string): { path: string; anchor: string }[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)]
    .map((match) => match[1] as string)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", anchor = ""] = target.split("#");
      return { path: file === "" ? page : posix.join(posix.dirname(page), file), anchor };
    });
}

/** The anchors of a page's headings, as hosts of repositories make them. */
function anchorsOf(markdown: string): string[] {
  const headings = markdown.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ +(.+)$/gm);
  return [...headings].map((match) =>
    (match[1] as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function isThere({ path, anchor }: { path: string; anchor: string }): boolean {
  if (!hasPath(path)) return false;
  return anchor === "" || anchorsOf(readText(path)).includes(anchor);
}

test.each(PAGES)("every link of %s leads somewhere", (page) => {
  expect(linksOf(page, readText(page)).filter((link) => !isThere(link))).toEqual([]);
});

/** What `npm pack` takes: folders and files. */
const PACKED = manifest.files.filter((name) => !name.startsWith("!"));

function isPacked(path: string): boolean {
  return PACKED.some((name) => path === name || path.startsWith(`${name}/`));
}

test.each([...PAGES, "SECURITY.md"].filter(isPacked))(
  "%s, which is in the package, leads to nothing beside it",
  (page) => {
    expect(linksOf(page, readText(page)).filter(({ path }) => !isPacked(path))).toEqual([]);
  },
);

test("the README links to what the package has, and names the rest as the repository's", () => {
  const names = readText("README.md").matchAll(/^(.*)(?<![(/[])\b([A-Z]+\.md)/gm);
  expect([...names].filter(([, before]) => !before?.startsWith("| in the repository |"))).toEqual([]);
});

test("the guide's index leads to each of its pages", () => {
  const index = "docs/guide/README.md";
  const linked = linksOf(index, readText(index)).map(({ path }) => path);
  const pages = listFiles("docs/guide", ".md").filter((page) => page !== index);
  expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
});

test("links are read from the page's own folder, and not from code", () => {
  const text = "[a](b.md#c-d) [x](../y.md) [out](https://example.com) [here](#top)\n```\n[no](no.md)\n```\n";
  expect(linksOf("docs/guide/p.md", text)).toEqual([
    { path: "docs/guide/b.md", anchor: "c-d" },
    { path: "docs/y.md", anchor: "" },
    { path: "docs/guide/p.md", anchor: "top" },
  ]);
  expect(anchorsOf("# 404, session `x` not found\n")).toEqual(["404-session-x-not-found"]);
});
