/** A reply as lines for a pipe, a file or a program. */
import { exitCodeOf } from "#src/kernel/envelope.ts";
import { withText, type TurnReply } from "#src/turns/turn-reply.ts";
import { panel } from "./render/panel.ts";
import { renderEnvelope } from "./render/render-envelope.ts";
import { plainScreen } from "./screen.ts";

/** Where lines go. */
export interface LineOutput {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

/** Writes the reply: what was asked for to `out`, a refusal or failure to `error`. Returns the exit code. */
export function writeReply(
  reply: TurnReply,
  output: LineOutput,
  options: { readonly json: boolean },
): number {
  if (options.json) output.out(`${JSON.stringify(withText(reply))}\n`);
  else writeText(reply, output);
  return exitCodeOf(reply.envelope);
}

function writeText({ announcement, notice, envelope }: TurnReply, output: LineOutput): void {
  const screen = plainScreen();
  for (const text of [announcement, notice]) {
    if (text !== undefined && text !== "") output.out(`${panel([text], screen, { tone: "notice" })}\n`);
  }
  const text = renderEnvelope(envelope, screen);
  if (envelope.ok) output.out(`${text}\n`);
  else output.error(`${text}\n`);
}
