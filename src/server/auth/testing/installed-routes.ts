/** The routes of the installed LangGraph server, read from its sources: they tell of a new one before anybody uses it. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A route as the sources add it to a router. */
const ROUTE = /\.(get|post|put|patch|delete|all)\(\s*"(\/[^"]*)"/gu;

/** Each as `METHOD /path`. The server for embedding elsewhere (`experimental`) is another program. */
export function installedRoutes(): string[] {
  const root = dirname(createRequire(import.meta.url).resolve("@langchain/langgraph-api/package.json"));
  const dist = join(root, "dist");
  return readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".mjs") && !name.startsWith("experimental"))
    .flatMap((name) => [...readFileSync(join(dist, name), "utf8").matchAll(ROUTE)])
    .map(([, method = "", path = ""]) => `${method.toUpperCase()} ${path}`);
}
