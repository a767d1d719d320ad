/** Changes to the line that is being edited which the line editor has no method for. */
import { clearScreenDown, cursorTo, moveCursor, type Interface } from "node:readline";
import { linesWithout } from "./lines-without.ts";

/** What the editor keeps of its line. Node documents `line` and `cursor`; `prevRows` it has since version 0.10. */
interface EditedLine {
  line: string;
  cursor: number;
  /** Row of the cursor below the prompt when the line was drawn last; the editor goes up by it to draw again. */
  prevRows: number;
  /** Lines that the arrow keys bring back, newest first. */
  history: string[];
}

function insideOf(editor: Interface): EditedLine {
  // The declared types are read-only for users; the object is the one that the editor works on.
  return editor as unknown as EditedLine;
}

/** Puts `text` where the cursor is, at once: key by key it would be measured anew for each. */
export function insertIntoLine(editor: Interface, text: string): void {
  change(editor, ({ line, cursor }) => ({
    line: line.slice(0, cursor) + text + line.slice(cursor),
    cursor: cursor + text.length,
  }));
}

/** Empties the line. */
export function clearEditedLine(editor: Interface): void {
  change(editor, () => ({ line: "", cursor: 0 }));
}

/** Takes a line from those that the arrow keys bring back. */
export function dropFromHistory(editor: Interface, line: string): void {
  const { history } = insideOf(editor);
  const at = history.indexOf(line);
  if (at !== -1) history.splice(at, 1);
}

/** Takes every line from them that `says` holds of. */
export function dropSayingFromHistory(editor: Interface, says: (line: string) => boolean): void {
  const { history } = insideOf(editor);
  const kept = linesWithout(history.toReversed(), says);
  history.splice(0, history.length, ...kept.toReversed());
}

/** Removes prompt and line from the screen, so that something can be printed in their place; `prompt` shows them again. */
export function leaveEditedLine(editor: Interface, output: NodeJS.WritableStream): void {
  moveCursor(output, 0, -editor.getCursorPos().rows);
  cursorTo(output, 0);
  clearScreenDown(output);
  insideOf(editor).prevRows = 0;
}

function change(editor: Interface, next: (before: EditedLine) => Pick<EditedLine, "line" | "cursor">): void {
  const inside = insideOf(editor);
  inside.prevRows = editor.getCursorPos().rows;
  Object.assign(inside, next(inside));
  editor.prompt(true);
}
