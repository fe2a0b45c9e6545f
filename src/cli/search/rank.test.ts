import { describe, expect, test } from "vitest";
import { rank, wordsOf } from "./rank.ts";

const tools = [
  { name: "files.read_file", description: "Read the complete contents of a file from the file system." },
  { name: "files.write_file", description: "Create a new file or overwrite an existing one." },
  { name: "files.list_directory", description: "List files and directories." },
  { name: "github.create_issue", title: "Create issue", description: "Create a new issue in a repository." },
  { name: "github.searchIssues", description: "Search for issues and pull requests." },
  { name: "memory.create_entities", description: "Create several new entities in the knowledge graph." },
];

const names = (query: string) => rank(query, tools).map(({ item }) => item.name);

describe("wordsOf", () => {
  test("takes names of any style apart", () => {
    expect(wordsOf("files.read_file searchIssues get-URL2 Größe")).toEqual([
      "files",
      "read",
      "file",
      "search",
      "issues",
      "get",
      "url2",
      "größe",
    ]);
  });
});

describe("rank", () => {
  test("puts the tool whose name has all the words first", () => {
    expect(names("read file")[0]).toBe("files.read_file");
    expect(names("create issue")[0]).toBe("github.create_issue");
  });

  test("finds a word by its beginning", () => {
    expect(names("direc")).toEqual(["files.list_directory"]);
    expect(names("entit")).toEqual(["memory.create_entities"]);
  });

  test("counts a rare word for more than a common one", () => {
    expect(names("create entities")[0]).toBe("memory.create_entities");
  });

  test("leaves out what has none of the words", () => {
    expect(names("playwright")).toEqual([]);
    expect(names("")).toEqual([]);
    expect(rank("x", [])).toEqual([]);
  });

  test("gives the same order whatever the order of the list", () => {
    const forwards = rank("create file", tools);
    const backwards = rank("create file", tools.toReversed());
    expect(backwards).toEqual(forwards);
    const equal = [{ name: "b.same" }, { name: "a.same" }];
    expect(rank("same", equal).map(({ item }) => item.name)).toEqual(["a.same", "b.same"]);
  });
});
