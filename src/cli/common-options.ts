import { Option } from "commander";

export function configOption(): Option {
  return new Option("--config <file>", "the config file; without it ./isthmus.toml and MGP's places are looked at");
}

export function jsonOption(about = "print one line of JSON"): Option {
  return new Option("--json", about);
}
