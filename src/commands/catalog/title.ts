/** `/title [text]`: names the session, or tells its name. */
import { done, refused } from "#src/kernel/envelope.ts";
import { toStorableText } from "#src/kernel/json.ts";
import type { PlainCommand } from "../command.ts";

/** Longest title, in UTF-16 code units. */
const MAX_TITLE_LENGTH = 120;

export const titleCommand: PlainCommand = {
  kind: "plain",
  name: "title",
  summary: "Name this conversation",
  usage: "/title [text]",
  effects: ["reads", "session"],
  async run(args, { session }) {
    if (args === "") {
      const title = session.title ?? null;
      const message =
        title === null ? "This conversation has no title." : `This conversation is called “${title}”.`;
      return { envelope: done("title", message, { next: "/title <text> changes it.", data: { title } }) };
    }
    const title = toStorableText(args).replaceAll(/\s+/gu, " ");
    if (title.length > MAX_TITLE_LENGTH) {
      return {
        envelope: refused(
          "command_usage",
          `a title has at most ${MAX_TITLE_LENGTH} characters; this has ${title.length}`,
          {
            next: "Shorten it; nothing was changed.",
          },
        ),
      };
    }
    return {
      envelope: done("title_set", `This conversation is now called “${title}”.`, { data: { title } }),
      changes: { title },
    };
  },
};
