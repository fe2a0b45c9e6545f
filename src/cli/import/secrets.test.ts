import { describe, expect, test } from "vitest";
import { looksSecret } from "./secrets.ts";

describe("looksSecret", () => {
  test.each([
    ["GITHUB_PERSONAL_ACCESS_TOKEN", "abc"],
    ["OPENAI_API_KEY", "test"],
    ["DB_PASSWORD", "hunter2"],
    ["Authorization", "Bearer x"],
    ["X-Api-Key", "1234567890"],
    ["BRAVE_KEY", "BSAxyz"],
    ["ANYTHING", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"],
    ["ANYTHING", "sk-proj-abcdef"],
    ["VALUE", "eyJhbGciOi.eyJzdWIi"],
    ["DATABASE_URL", "postgresql://app:s3cret@db/app"],
    ["VALUE", "0123456789abcdef0123456789abcdef"],
    ["VALUE", "kX9vQ2mZ7pL4tR8wB3nY6cD1"],
  ])("takes %s=%s for a secret", (name, value) => {
    expect(looksSecret(name, value)).toBe(true);
  });

  test.each([
    ["LOG_LEVEL", "debug"],
    ["TOKEN", ""],
    ["USE_TOKEN", "true"],
    ["MAX_TOKENS", "4096"],
    ["API_KEY", "${API_KEY}"],
    ["Authorization", "Bearer ${CRM_TOKEN}"],
    ["KEY_FILE", "/etc/keys/app.pem"],
    ["SECRET_URL", "https://vault.example/v1"],
    ["DATABASE_URL", "postgresql://localhost/app"],
    ["MODEL", "claude-sonnet-with-a-long-name-and-more"],
    ["PATH", "/usr/bin:/bin"],
    ["MEMORY_FILE_PATH", "./memory.json"],
  ])("takes %s=%s for a setting", (name, value) => {
    expect(looksSecret(name, value)).toBe(false);
  });
});
