/** Tells the lines of standard error that say why a program failed from what runtimes and package managers write around them. */

/** Lines that say nothing to whoever has not written the program. */
const EMPTY_WORDS: readonly RegExp[] = [
  /^[\s\p{P}\p{S}]*$/u, // blank, carets, braces
  /^\s*at\s/, // frames of JavaScript
  /^\s*(?:Traceback \(|File ".*", line \d|During handling of the above|The above exception was)/, // frames of Python
  /^\s*(?:node:internal\/|file:\/\/\S+:\d+$|\/\S+:\d+$|throw\s)/, // where JavaScript failed
  /^\s+\w+: .*(?:[,{]|\[\]?)$/, // members of an error that was printed
  /^Node\.js v\d/,
  /^npm (?:notice|warn exec|http fetch \S+ [23]\d\d\b)/i,
  /^npm (?:error|ERR!) (?:A complete log of this run|\s*\/\S+-debug-\d+\.log$)/i,
  /^npm (?:error|ERR!)(?: \d{3})?\s*$/i,
  /^npm (?:error|ERR!) 404 (?:Note that you can also|tarball, folder)/i, // advice below what was not found
];

const PYTHON_FRAME = /^\s*File ".*", line \d/;

/** For the lines of one program, in order. */
export function createTellingFilter(): (line: string) => boolean {
  let isCode = false;
  return (line) => {
    // Below a frame of Python stands the line of code.
    const isBelowFrame = isCode && /^\s/.test(line);
    isCode = PYTHON_FRAME.test(line) || (isBelowFrame && /^[\s^~]+$/.test(line));
    return !isBelowFrame && !EMPTY_WORDS.some((pattern) => pattern.test(line));
  };
}
