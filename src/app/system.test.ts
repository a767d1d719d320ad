import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { systemClock } from "./system.ts";

describe("the machine's clock", () => {
  it.each([{}, { LILY_NOW: "" }, { LILY_NOW: " " }])("is not moved by %j", (env) => {
    expect(Math.abs(systemClock(env).now() - Date.now())).toBeLessThan(60_000);
  });

  it("begins at LILY_NOW and goes on from there", () => {
    const wanted = Date.parse("2026-03-01T09:00:00Z");
    expect(systemClock({ LILY_NOW: "2026-03-01T09:00:00Z" }).now() - wanted).toBeLessThan(60_000);
  });

  it("refuses a LILY_NOW that is no instant, instead of using another time without a word", () => {
    expect(() => systemClock({ LILY_NOW: "garbage" })).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
  });
});

describe("the zone of the machine", () => {
  it.each([":/etc/localtime", "", "Foo/Bar", "GMT+3"])(
    "is one that rules can go by when TZ is %j (F-2)",
    (zone) => {
      const program = `import(${JSON.stringify(new URL("./system.ts", import.meta.url).href)}).then(({ machineTimeZone }) =>
      process.stdout.write(Intl.DateTimeFormat("en", { timeZone: machineTimeZone() }).resolvedOptions().timeZone))`;
      const env = { ...process.env, TZ: zone };
      const said = execFileSync(process.execPath, ["--import", "tsx", "-e", program], {
        env,
        encoding: "utf8",
      });
      expect(said).not.toBe("");
    },
  );
});
