/** Paths of this repository that a page names. */

// Only words that start with a top folder count, because `server/discover` and its like are method names.
const IN_FOLDERS = /^(?:src|tests|docs|scripts|bench|examples|deploy|console|sdks|proto|changes|\.ci)\/[\w./-]*$/;
const AT_ROOT = /^[\w-]+\.(?:md|json|ts|toml)$/;

/** Those in backticks; code blocks draw pictures and are left out, as are patterns like `src/*`. */
export function namedPaths(markdown: string): string[] {
  return wordsOf(markdown).filter((word) => IN_FOLDERS.test(word) || AT_ROOT.test(word));
}

/** Those in folders alone, for pages that also name files which the program makes. */
export function namedPathsInFolders(markdown: string): string[] {
  return wordsOf(markdown).filter((word) => IN_FOLDERS.test(word));
}

function wordsOf(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, "");
  const words = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => (match[1] as string).replace(/[#:].*$/, ""));
  return [...new Set(words)];
}
