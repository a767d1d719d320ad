/** The interactive conversation. Imports little, so that the prompt is there at once; the rest loads behind it. */
import { clearScreenDown, cursorTo } from "node:readline";
import { askedHere, isYes, withYes } from "./confirm-erasing.ts";
import type { CliContext } from "./context.ts";
import type { Engine } from "./engine.ts";
import type { Approval } from "#src/tools/approval.ts";
import type { TurnEvent } from "#src/turns/runner.ts";
import { homeFolder } from "#src/app/home-folder.ts";
import { createInputHistory } from "./input/history-file.ts";
import { LineInput } from "./input/line-input.ts";
import type { Display } from "./late-parts.ts";
import { printableLine } from "./printable.ts";
import { screenOf, type Screen } from "./screen.ts";
import { exitSoon, onTermination, stopReason } from "./signals.ts";

/** Talks until the person leaves. Returns the exit code. */
export async function chat(context: CliContext): Promise<number> {
  const conversation = new Conversation(context);
  const forget = onTermination((exitCode) => conversation.end(exitCode));
  const restore = (): void => conversation.restoreTerminal();
  process.on("exit", restore);
  try {
    return await conversation.run();
  } finally {
    restore();
    process.off("exit", restore);
    forget();
  }
}

/** A line, and the question that it may answer. */
interface Typed {
  readonly content: string;
  readonly stop: AbortSignal;
  readonly asked?: Approval | undefined;
}

class Conversation {
  readonly #context: CliContext;
  readonly #input: LineInput;
  #display: Display | undefined;
  #engine: Promise<Engine> | undefined;
  /** Stops the answer that is being written. */
  #stop: AbortController | undefined;
  /** The message in hand waits for a turn of another program on its key. */
  #isWaiting = false;
  /** The call of a tool that the person is asked about: the next line answers. */
  #asked: Approval | undefined;
  /** Where the last turn of this terminal ended. */
  #lastSessionId: string | undefined;
  #exitCode = 0;

  constructor(context: CliContext) {
    this.#context = context;
    const { stdin, stdout, env, cwd } = context;
    // What was typed before this line has been echoed by the terminal; the editor shows it again.
    cursorTo(stdout, 0);
    clearScreenDown(stdout);
    stdout.write(`${this.#greeting()}\n`);
    this.#input = new LineInput({
      input: stdin,
      output: stdout,
      history: createInputHistory(homeFolder(env, cwd)),
      commandNames: () => this.#display?.commandNames ?? [],
      onIdleInterrupt: () => this.#input.printAbove(this.#screen.paint.dim("Ctrl-D leaves.")),
      onBusyInterrupt: () => this.#interrupt(),
      takesWhileBusy: (text) => this.#stopBy(text),
    });
  }

  async run(): Promise<number> {
    const { env, stderr } = this.#context;
    // Once what was just written can be seen.
    this.#engine = new Promise((resolve) => setImmediate(resolve)).then(() => {
      if ((env["LILY_TIMING"] ?? "") !== "")
        stderr.write(`\nprompt after ${Math.round(performance.now())} ms\n`);
      return this.#load();
    });
    this.#engine.catch((error: unknown) => this.#giveUp(error));
    for (;;) {
      const text = await this.#input.next();
      if (text === undefined) break;
      const asked = this.#asked;
      this.#asked = undefined;
      await this.#turn(text, asked);
    }
    await this.#engine.then((engine) => engine.close()).catch(() => undefined);
    return this.#exitCode;
  }

  /** Stops what runs and leaves. */
  end(exitCode: number): void {
    this.#exitCode = exitCode;
    this.#stop?.abort(stopReason());
    this.#input.close();
    exitSoon(exitCode);
  }

  restoreTerminal(): void {
    this.#display?.activity.hide();
    this.#input.close();
  }

  get #screen(): Screen {
    return screenOf(this.#context.stdout, this.#context.env);
  }

  #greeting(): string {
    const { paint, columns } = this.#screen;
    const { key } = this.#context;
    const on = key === undefined ? "" : ` on ${printableLine(key)}`;
    const hint = columns < 60 ? " · /help · Ctrl-D leaves" : " · /help lists the commands, Ctrl-D leaves";
    return `${paint.bold(`Lily${on}`)}${paint.dim(hint)}`;
  }

  async #load(): Promise<Engine> {
    const { createDisplay } = await import("./late-parts.ts");
    this.#display = createDisplay(this.#context);
    if (!this.#input.isPrompting && !this.#input.isClosed) this.#display.activity.show("opening");
    const { openEngine } = await import("./engine.ts");
    const engine = await openEngine(this.#context, this.#input);
    await this.#welcome(engine, this.#display);
    return engine;
  }

  async #welcome(engine: Engine, display: Display): Promise<void> {
    const text = await display.welcomeText(engine, this.#screen);
    display.activity.hide();
    const approval = await engine.openApproval();
    if (this.#input.isClosed) return;
    this.#input.printAbove(text);
    if (approval !== undefined && this.#input.isPrompting) this.#ask(approval, display);
  }

  /** The next line answers; unless one is being typed, which was begun before the question could be seen. */
  #ask(approval: Approval, display: Display, isShown = false): void {
    if (!isShown && !this.#input.printAbove(display.approvalPanel(approval, this.#screen))) return;
    this.#asked = approval;
    this.#input.asks("no");
  }

  #giveUp(error: unknown): void {
    if (this.#input.isClosed) return;
    this.#display?.activity.hide();
    const failure = this.#display?.failure(error);
    this.#input.printAbove(failure?.text ?? String(error));
    this.#exitCode = failure?.exitCode ?? 70;
    this.#input.close();
  }

  async #turn(content: string, asked: Approval | undefined): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    this.#display?.activity.show("opening");
    try {
      // Of one that cannot be opened `#giveUp` tells.
      const engine = await this.#engine?.catch(() => undefined);
      const display = this.#display;
      if (engine === undefined || display === undefined) return;
      if (stop.signal.aborted) this.#context.stdout.write(`${display.failure(stopReason()).text}\n`);
      else await this.#send(engine, display, { content, stop: stop.signal, asked });
    } finally {
      this.#stop = undefined;
    }
  }

  async #send(engine: Engine, display: Display, { asked, ...message }: Typed): Promise<void> {
    const view = new display.TurnView({
      write: (text) => void this.#context.stdout.write(text),
      screen: this.#screen,
      activity: display.activity,
      lastSessionId: this.#lastSessionId,
    });
    message.stop.addEventListener("abort", () => view.stopping());
    const decision = asked && display.decisionIn(message.content);
    const on = {
      stop: message.stop,
      onEvent: (event: TurnEvent) => {
        this.#isWaiting = event.type === "waiting";
        view.onEvent(event);
      },
    };
    const reply = await (asked === undefined || decision === undefined
      ? engine.send({ ...on, content: message.content })
      : engine.approve({ ...on, id: asked.id, decision }));
    this.#isWaiting = false;
    this.#lastSessionId = display.sessionAfter(reply, this.#lastSessionId);
    const isSecret = await display.isSecret(message.content, reply.envelope);
    if (isSecret || decision !== undefined) this.#input.forgetLast();
    const asks = reply.envelope.code === "confirmation_needed";
    view.finish(asks ? { ...reply, envelope: askedHere(reply.envelope) } : reply);
    this.#context.stdout.write("\n");
    if (asks) return this.#confirm(engine, display, message);
    const next = display.approvalIn(reply.envelope.data);
    if (next !== undefined) return this.#ask(next, display, true);
    // What only reads leaves the question as it is.
    const still = asked === undefined ? undefined : await engine.openApproval();
    if (still !== undefined) this.#ask(still, display);
  }

  async #confirm(engine: Engine, display: Display, message: Typed): Promise<void> {
    if (isYes(await this.#input.next()))
      return this.#send(engine, display, { ...message, content: withYes(message.content) });
    this.#context.stdout.write("Nothing was erased.\n\n");
  }

  /** `/stop` is for the answer that is being written, here or elsewhere; all else waits for what was typed before it. */
  #stopBy(text: string): boolean {
    if (this.#stop === undefined || !/^\s*\/stop(?:\s|$)/iu.test(text)) return false;
    if (this.#isWaiting) void this.#stopOther().catch(() => undefined);
    else this.#stop.abort(stopReason());
    return true;
  }

  /** Stops the turn for which the message in hand waits, and which another program answers. */
  async #stopOther(): Promise<void> {
    const reply = await (await this.#engine)?.send({ content: "/stop" });
    if (reply !== undefined) this.#input.printAbove(printableLine(reply.envelope.message));
  }

  #interrupt(): void {
    if (this.#stop === undefined) return;
    // The second time the person does not want to wait; what was written is settled with the next message.
    if (this.#stop.signal.aborted) return this.end(130);
    this.#stop.abort(stopReason());
  }
}
