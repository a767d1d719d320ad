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

it("the zone of the machine is one that rules can go by, whatever TZ is (F-2)", () => {
  const program = `for (const [place, zone] of JSON.parse(process.argv[1]).entries()) {
      process.env.TZ = zone;
      const { machineTimeZone } = await import(${JSON.stringify(new URL("./system.ts", import.meta.url).href)} + "?" + place);
      const timeZone = machineTimeZone();
      console.log(new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone);
    }`;
  const zones = [":/etc/localtime", "", "Foo/Bar", "GMT+3", "Europe/Paris"];
  const options = ["--import", "tsx", "--input-type=module", "-e", program, JSON.stringify(zones)];
  const told = execFileSync(process.execPath, options, { encoding: "utf8" });
  expect(told.trim().split("\n")).toEqual(["UTC", "UTC", "UTC", "UTC", "Europe/Paris"]);
});
