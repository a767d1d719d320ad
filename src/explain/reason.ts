/** The form of every explanation: lines that name what they are about. */
import { markdownTable } from "#src/kernel/markdown.ts";

export interface Reason {
  /** In a word or two, e.g. `failed calls`. */
  readonly about: string;
  /** The fact in words, without a full stop at its end. */
  readonly text: string;
}

/** For whom and in whose words an explanation is made. */
export interface Telling {
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: number;
  readonly timeZone: string;
  /** A session as the person knows it, e.g. `session 2`. */
  readonly nameOf: (sessionId: string) => string;
}

/** The reasons that there are. */
export function reasonsOf(
  ...lines: readonly (readonly [about: string, text: string | undefined])[]
): Reason[] {
  return lines.flatMap(([about, text]) => (text === undefined || text === "" ? [] : [{ about, text }]));
}

/** An explanation as plain text, one reason a line. */
export function reasonsText(headline: string, reasons: readonly Reason[]): string {
  return [headline, ...reasons.map(({ about, text }) => `${about}: ${text}`)].join("\n");
}

/** An explanation as an envelope shows it: several reasons about the same are named once. */
export function reasonsTable(
  headline: string,
  reasons: readonly Reason[],
): { readonly lead: string; readonly body: string } {
  const rows = reasons.map(({ about, text }, index) => [
    reasons[index - 1]?.about === about ? "" : about,
    text,
  ]);
  return { lead: headline, body: markdownTable(["", ""], rows) };
}
