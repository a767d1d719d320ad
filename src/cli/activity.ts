/** The spinner that says what is awaited, and for how long already. */
import ora, { type Ora } from "ora";
import type { CliContext } from "./context.ts";
import { screenOf } from "./screen.ts";

/** What the program waits for, shown while nothing else is. */
export interface Activity {
  /** Shows `what` with the time since it was first shown. The same `what` again goes on counting. */
  show(what: string): void;
  /** Removes it, so that something can be printed. */
  hide(): void;
}

/** For outputs that nobody watches. */
export const noActivity: Activity = { show: () => undefined, hide: () => undefined };

const REFRESH_MS = 250;

/** A spinner on the error stream where that is a terminal. */
export function activityOn({ stderr: stream, env }: Pick<CliContext, "stderr" | "env">): Activity {
  if (!stream.isTTY) return noActivity;
  const { paint } = screenOf(stream, env);
  // The line editor owns the input; the spinner must not touch it.
  const spinner = ora({
    stream,
    discardStdin: false,
    isEnabled: true,
    color: paint.level > 0 ? "cyan" : false,
  });
  let shown: { readonly what: string; readonly since: number; readonly timer: NodeJS.Timeout } | undefined;
  const hide = (): void => {
    if (shown === undefined) return;
    clearInterval(shown.timer);
    shown = undefined;
    spinner.stop();
  };
  return {
    hide,
    show(what) {
      // A terminal that says it has no width: the spinner would compute for ever how many lines it takes.
      if (shown?.what === what || stream.columns === 0) return;
      hide();
      const since = performance.now();
      const timer = setInterval(() => label(spinner, what, since), REFRESH_MS);
      shown = { what, since, timer };
      label(spinner, what, since);
      spinner.start();
    },
  };
}

function label(spinner: Ora, what: string, since: number): void {
  const seconds = Math.floor((performance.now() - since) / 1000);
  spinner.text = seconds === 0 ? what : `${what} ${seconds} s`;
}
