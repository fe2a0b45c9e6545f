/** `npm run requirements`: one line per document, then one line per problem. Runs no test. */
import { hasPath, listFiles, readText } from "../structure/repo-files.ts";
import { findCitations } from "./citations.ts";
import { findProblems } from "./judge.ts";
import { readDocuments, summarize } from "./rows.ts";

const documents = readDocuments();
const testFiles = ["src", "tests"].flatMap((folder) => listFiles(folder, ".test.ts"));
const citations = testFiles.flatMap((file) => findCitations(file, readText(file)));
const problems = findProblems(documents, citations, (path) => (hasPath(path) ? readText(path) : undefined));

for (const document of documents) process.stdout.write(`${summarize(document)}\n`);
for (const problem of problems) process.stderr.write(`problem: ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
