/** Turns a pasted block into one editable line and back: line breaks and tabs stand as visible signs. */

const NEWLINE_SIGN = "⏎";
const TAB_SIGN = "⇥";

/** What is pasted, as the line editor shows it. Other control characters, which the editor would obey, are dropped. */
export function pastedToLine(pasted: string): string {
  return (
    pasted
      .replaceAll(/\r\n?|\n/gu, NEWLINE_SIGN)
      .replaceAll("\t", TAB_SIGN)
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u001F\u007F-\u009F]/gu, "")
  );
}

/** The text that an edited line stands for. */
export function lineToText(line: string): string {
  return line.replaceAll(NEWLINE_SIGN, "\n").replaceAll(TAB_SIGN, "\t");
}
