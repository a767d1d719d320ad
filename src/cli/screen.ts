/** What the output can show: how wide it is, whether a person looks at it, and its colours. */
import type { WriteStream } from "node:tty";
import { Chalk, type ChalkInstance } from "chalk";
import type { Environment } from "#src/app/config.ts";

/** The output as renderers see it. */
export interface Screen {
  /** Characters a line, at least {@link MIN_COLUMNS}. */
  readonly columns: number;
  /** Lines of a screen. */
  readonly rows: number;
  /** Answers are shown as the model writes them: asked for by `LILY_PLAIN`, or the cursor cannot be moved. */
  readonly isPlain: boolean;
  /** Without a terminal there are no colours, no boxes and no spinner. */
  readonly isTerminal: boolean;
  readonly paint: ChalkInstance;
}

/** The part of a stream that tells what it is. */
type OutputTraits = { readonly [trait in "isTTY" | "columns" | "rows"]?: WriteStream[trait] | undefined };

const MIN_COLUMNS = 40;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** The screen of a stream as it is now; ask again after a resize. */
export function screenOf(stream: OutputTraits, env: Environment): Screen {
  const isTerminal = stream.isTTY === true;
  const columns = stream.columns ?? DEFAULT_COLUMNS;
  const isAsked = (env["LILY_PLAIN"] ?? "") !== "";
  return {
    columns: Math.max(MIN_COLUMNS, columns),
    rows: stream.rows ?? DEFAULT_ROWS,
    // What is computed for other columns than there are would be painted in the wrong place.
    isPlain: !isTerminal || isAsked || env["TERM"] === "dumb" || columns < MIN_COLUMNS,
    isTerminal,
    paint: new Chalk({ level: isTerminal && hasColour(env) ? 2 : 0 }),
  };
}

/** A screen without colours and boxes: for pipes and files. */
export function plainScreen(columns?: number): Screen {
  return screenOf({ columns }, {});
}

// https://no-color.org: set and not empty, whatever it is set to.
function hasColour(env: Environment): boolean {
  return (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
