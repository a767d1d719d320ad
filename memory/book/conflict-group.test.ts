import { describe, expect, it } from "vitest";
import { conflictGroupOf } from "./conflict-group.ts";

const SAME: [string, string][] = [
  ["My car is red", "my car is blue"],
  ["I live in Ghent", "I live in Oslo since 2019"],
  ["I live in Ghent", "I moved to Oslo"],
  ["likes coriander", "I can't stand coriander any more"],
  ["I like tea", "I don't like tea"],
  ["I love the opera", "I hate opera"],
  ["I prefer tea over coffee", "I prefer coffee to tea"],
  ["I like cats more than dogs", "I prefer dogs over cats"],
  ["Rosa's birthday is 4 May", "Rosa's birthday is 5 May"],
  ["My sister's name is Rosa", "No, my sister's name is Rose"],
  ["My cat is called Miso", "my cat's name is Koko"],
  ["My name is Rae", "Call me R."],
  ["I work at Acme", "I now work for Globex"],
  ["I'm 40 years old", "I am 41"],
  ["I am vegetarian", "I'm no longer vegetarian"],
  ["My job is a teacher", "My job is nursing"],
  ["My favourite colour is blue", "my favourite colour is sea green"],
  ["Sign mails as R.", "No, sign them as Rae"],
  ["Answer in German", "Please answer me in French"],
  ["The deadline is Friday", "The deadline is 3 May"],
  ["My flight is BA117", "My flight is BA118"],
  ["Ich wohne in Graz", "Ich wohne jetzt in Wien"],
  ["Ma voiture est rouge", "Ma voiture est bleue"],
  ["Mein Beruf ist Lehrerin", "Mein Beruf ist Pflegerin"],
];

const APART: [string, string][] = [
  ["My car is red", "My car is a Volvo"],
  ["My car is red", "My bike is blue"],
  ["My friend is Ola", "My friend is Ben"],
  ["My sister is Rosa", "My sister is Ida"],
  ["I like tea", "I like coffee"],
  ["I prefer tea over coffee", "I prefer tea over juice"],
  ["Rosa's birthday is 4 May", "Ben's birthday is 5 May"],
  ["Rosa's birthday is 4 May", "Rosa's phone is new"],
  ["I live in Ghent", "I work at Acme"],
  ["The spare key is under the mat", "The spare key is red"],
  ["My cat is called Miso", "My dog is called Miso"],
];

describe("the conflict group", () => {
  it.each(SAME)("is one for %j and %j", (one, two) => {
    expect(conflictGroupOf(one)).not.toBeNull();
    expect(conflictGroupOf(one)).toBe(conflictGroupOf(two));
  });

  it.each([
    ["My home town is Ghent", "The user's home town is Oslo"],
    ["I am afraid of lifts", "The user is not afraid of lifts"],
    ["I live in Ghent", "The user lives in Oslo"],
    ["I like jazz", "The user doesn't like jazz"],
    ["My name is Ada", "The user is called Bea"],
  ])("is shared by %j and what is said of the user: %j", (one, two) => {
    expect(conflictGroupOf(two)).toBe(conflictGroupOf(one));
    expect(conflictGroupOf(one)).not.toBeNull();
  });

  it("is not shared by all that the user is", () => {
    const groups = ["tired", "allergic to nuts", "a nurse"].map((what) =>
      conflictGroupOf(`The user is ${what}`),
    );
    expect(new Set(groups).size).toBe(3);
  });

  it.each(APART)("is not shared by %j and %j", (one, two) => {
    // Facts without a group share none.
    expect(conflictGroupOf(one) ?? "none of one").not.toBe(conflictGroupOf(two) ?? "none of two");
  });

  it.each(["Rent is due. It is paid by Ann", "猫", "", "x".repeat(5000), "my ".repeat(500)])(
    "of %j is none",
    (text) => {
      expect(conflictGroupOf(text)).toBeNull();
    },
  );
});
