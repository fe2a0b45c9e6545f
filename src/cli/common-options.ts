import { Option } from "commander";

export function configOption(): Option {
  return new Option("--config <file>", "the config file; without it ./isthmus.toml and MGP's places are looked at");
}

/**
 * Node looks for `--env-file` in the whole command line, also behind the program, and obeys a NODE_OPTIONS that it finds in the
 * file. Where we write the command line, a `--` before the program keeps it from that; the first line of the program cannot,
 * because `env` of some systems passes one word only. The short form is nothing to Node anywhere.
 */
export function envFileOption(): Option {
  return new Option(
    "-e, --env-file <file>",
    "variables from a file of NAME=value lines; those that are set already stay",
  ).argParser((file: string, before: readonly string[] = []) => [...before, file]);
}

export function urlOption(): Option {
  return new Option("--url <url>", "where the gateway is; without it, where the config listens");
}

export function jsonOption(about = "print one line of JSON"): Option {
  return new Option("--json", about);
}
