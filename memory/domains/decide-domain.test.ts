import { describe, expect, it } from "vitest";
import { decideDomain } from "./decide-domain.ts";
import { DOMAIN_CASES } from "./domain-cases.ts";
import { DOMAIN_RULES } from "./domain-rules.ts";

describe("the domain of a remembered text", () => {
  it.each(DOMAIN_CASES)("of %j is %s by %s", (text, domain, rule) => {
    expect(decideDomain(text)).toEqual({ domain, rule });
  });

  it("has a case for every row of the table", () => {
    const shown = new Set(DOMAIN_CASES.map(([, , rule]) => rule));
    expect(DOMAIN_RULES.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
  });

  it.each(DOMAIN_CASES)(
    "of %j does not depend on case, spaces around it or a polite word",
    (text, domain) => {
      expect(decideDomain(`  ${text.toUpperCase()} `).domain).toBe(domain);
      expect(decideDomain(`please ${text}`).domain).toBe(domain);
    },
  );
});
