import { describe, expect, it } from "vitest";
import { decideDomain } from "./new-record.ts";

describe("the domain of a remembered text", () => {
  it.each([
    ["You are a patient tutor", "persona_core", "you are"],
    ["you’re my sparring partner in chess", "persona_core", "you are"],
    ["Your tone is dry and precise", "persona_core", "your"],
    ["Be warm but brief", "persona_core", "be"],
    ["Speak like a sailor", "persona_core", "speak"],
    ["Always run the tests before a commit", "working_rules", "always"],
    ["NEVER push to main", "working_rules", "never"],
    ["Don't guess dates", "working_rules", "do not"],
    ["Do not guess dates", "working_rules", "do not"],
    ["When I ask for a report, use tables", "working_rules", "when"],
    ["Before deleting files, ask", "working_rules", "before"],
    ["If a test fails, stop and tell me", "working_rules", "if"],
    ["I always run late", "user_profile", "default"],
    ["Bees are my hobby", "user_profile", "default"],
    ["My name is Rae", "user_profile", "default"],
    ["Ich wohne in Graz", "user_profile", "default"],
    ["Immer zuerst fragen", "user_profile", "default"],
    ["猫の名前はミソ", "user_profile", "default"],
  ])("of %j is %s by %s", (text, domain, rule) => {
    expect(decideDomain(text)).toEqual({ domain, rule });
    expect(decideDomain(`  ${text.toUpperCase()} `)).toEqual({ domain, rule });
  });
});
