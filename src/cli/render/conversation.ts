/** Shows turns of a conversation: `/history` and `/recall`. */
import type { z } from "zod";
import { printableLine } from "../printable.ts";
import type { Screen } from "../screen.ts";
import type { historyData, recallData } from "./fields.ts";
import { labelled, wrapped } from "./indent.ts";

type Turn = z.infer<typeof historyData>["turns"][number];
type Piece = z.infer<typeof recallData>["found"][number];

/** Turns oldest first, each under its time. */
export function renderHistory({ turns }: z.infer<typeof historyData>, screen: Screen): string {
  return turns.map((turn) => renderTurn(turn, screen)).join("\n\n");
}

function renderTurn(turn: Turn, screen: Screen): string {
  const ended = turn.erasedAt === undefined ? turn.status : `${turn.status} on ${turn.erasedAt}`;
  const ending = turn.status === "completed" ? "" : ` (${printableLine(ended)})`;
  const lines = turn.messages
    .filter(({ role, content }) => role !== "system" && content.trim() !== "")
    .map(({ role, content }) => labelled(speaker(role, screen), content, screen));
  return [screen.paint.dim(wrapped(`${printableLine(turn.at)}${ending}`, screen)), ...lines].join("\n");
}

function speaker(role: string, { paint }: Screen): string {
  switch (role) {
    case "user":
      return paint.cyan("you: ");
    case "assistant":
      return paint.green("lily:");
    default:
      return paint.dim(`${printableLine(role)}:`);
  }
}

/** Pieces of earlier conversations, best first, each with where it came from. */
export function renderRecall({ found }: z.infer<typeof recallData>, screen: Screen): string {
  return found.map((piece) => renderPiece(piece, screen)).join("\n\n");
}

function renderPiece(piece: Piece, screen: Screen): string {
  const day = printableLine(piece.at).slice(0, 10);
  const score = piece.score > 0 ? `, score ${piece.score}` : "";
  const from = `session ${piece.ordinal}, turn ${piece.turn}, ${day}${score}`;
  return [
    screen.paint.dim(wrapped(from, screen)),
    labelled(speaker("user", screen), piece.user, screen),
    ...(piece.assistant === "" ? [] : [labelled(speaker("assistant", screen), piece.assistant, screen)]),
  ].join("\n");
}
