import { describe, expect, it } from "vitest";
import { findAssigned } from "./assigned-secrets.ts";

const found = (text: string): string[] => findAssigned(text).map(({ start, end }) => text.slice(start, end));

describe("a secret in a place for one", () => {
  it.each([
    ["PGPASSWORD=Qx7kP2mz psql", "Qx7kP2mz"],
    ["spring.datasource.password = Qx7kP2mz", "Qx7kP2mz"],
    ['{"user": "rae", "password": "Harvest.087"}', "Harvest.087"],
    ["<db_password>Harvest.087</db_password>", "Harvest.087"],
    ["mysql -u root -pQx7kP2mz shop", "Qx7kP2mz"],
    ["sshpass -p 'Tangerine-908' ssh rae@host", "Tangerine-908"],
    ["curl -u rae:Qx7kP2mz https://api.example.org", "Qx7kP2mz"],
    ["requirepass Qx7kP2mz9", "Qx7kP2mz9"],
  ])("is found in %s", (text, value) => {
    expect(found(text)).toContain(value);
  });

  it.each([
    "docker run -p 8080:80 nginx",
    "mkdir -p src/components",
    "curl -u is deprecated",
    "set TOKEN=$GITHUB_TOKEN",
    '{"password": "string"}',
    "<password>required</password>",
    "token=null",
  ])("is not in %s", (text) => {
    expect(found(text)).toEqual([]);
  });
});
