/** What holds after any fault, in words: each function gives the sentences about what does not. Pure. */
import type { ScriptedCall } from "#src/models/testing/scripted-record.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { turnsOf, type StoredKey } from "./stored.ts";

/** One latest, and all others sealed. */
export function chainProblems({ chain }: StoredKey): string[] {
  const open = chain.sessions.filter(({ sealed }) => sealed === undefined).map(({ sessionId }) => sessionId);
  // Time may pass again before a message comes again that was never answered; a command is carried out once.
  const commands = chain.sessions.filter(({ opened }) => opened.verdict?.trigger === "command");
  const opened = commands.map((entry) => entry.opened.deliveryId);
  return [
    ...(open.join() === chain.latest
      ? []
      : [`${open.length} sessions are open, and latest is ${chain.latest}`]),
    ...duplicatesOf(opened).map((id) => `delivery ${id} opened more than one session by its command`),
  ];
}

/** The deliveries that a turn answers. */
function deliveryIdsOf({ deliveryId, collected = [] }: TurnRecord): string[] {
  return [deliveryId, ...collected.map((other) => other.deliveryId)];
}

/** Every delivery of `owed` is one turn, and no delivery is two. */
export function turnProblems(stored: StoredKey, owed: readonly string[]): string[] {
  const ids = turnsOf(stored).flatMap(deliveryIdsOf);
  return [
    ...owed.filter((id) => !ids.includes(id)).map((id) => `the turn of delivery ${id} is lost`),
    ...duplicatesOf(ids).map((id) => `delivery ${id} is in the transcript twice`),
  ];
}

/** The turns stand in the order in which their messages came. */
export function orderProblems(stored: StoredKey, order: readonly string[]): string[] {
  const ids = turnsOf(stored).flatMap(deliveryIdsOf);
  const wanted = order.filter((id) => ids.includes(id));
  const found = ids.filter((id) => order.includes(id));
  return wanted.join() === found.join()
    ? []
    : [`the turns are in the order ${found.join()}, not ${wanted.join()}`];
}

/** A completed turn is a question with its answer; every tool call in a turn has its result behind it. */
export function wholeTurnProblems(stored: StoredKey): string[] {
  return turnsOf(stored).flatMap(({ deliveryId, kind, messages, status }) => {
    const where = `the turn of delivery ${deliveryId}`;
    const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
    const results = messages.flatMap(({ toolCallId }) => (toolCallId === undefined ? [] : [toolCallId]));
    const isAnswered = messages[0]?.role === "user" && messages.at(-1)?.role === "assistant";
    return [
      ...(kind === "chat" && status === "completed" && !isAnswered ? [`${where} has no answer`] : []),
      ...(calls.toSorted().join() === results.toSorted().join()
        ? []
        : [`${where} has calls without results`]),
      ...(messages.filter(({ role }) => role === "user").length > 1 ? [`${where} has two messages`] : []),
    ];
  });
}

/** No call of a tool begins a second time. */
export function toolProblems(log: readonly string[]): string[] {
  return duplicatesOf(log).map((line) => `the tool ran again: ${line}`);
}

/** A model's input is a conversation that providers take: results behind their calls, the newest message last. */
export function inputProblems(call: ScriptedCall | undefined, newest: string): string[] {
  const messages = (call?.messages ?? []).filter(({ type }) => type !== "system");
  const problems: string[] = [];
  let open: string[] = [];
  for (const { type, toolCallId = "", toolCalls = [] } of messages) {
    if (type === "tool" && !open.includes(toolCallId))
      problems.push(`result ${toolCallId} has no call before it`);
    if (type !== "tool" && open.length > 0) problems.push(`calls ${open.join()} have no result behind them`);
    open = type === "tool" ? open.filter((id) => id !== toolCallId) : toolCalls.map(({ id = "" }) => id);
  }
  const last = messages.at(-1);
  if (last?.type !== "human" || last.content !== newest)
    problems.push(`the model was not given ${newest} last`);
  return problems;
}

/** A model is given the turns of `latest` and of what it continues, in order, and nothing else. */
export function contextProblems(call: ScriptedCall | undefined, stored: StoredKey): string[] {
  const given = (call?.messages ?? [])
    .filter(({ type }) => type !== "system")
    .map(({ content }) => contentText(content).replace(/ ?\[the user stopped this answer\]$/u, ""));
  const wanted = pastOf(stored, stored.chain.latest)
    .filter(({ kind }) => kind === "chat")
    .flatMap(({ messages }) => messages.map(({ content }) => content))
    .slice(0, -1);
  return given.join("\n") === wanted.join("\n")
    ? []
    : [`the model was given ${JSON.stringify(given)}, not ${JSON.stringify(wanted)}`];
}

/** Written again here, and simpler, so that a fault of the product's own is not shared. */
function pastOf(stored: StoredKey, latest: string): StoredKey["sessions"][number]["turns"] {
  const own = stored.sessions.find(({ sessionId }) => sessionId === latest)?.turns ?? [];
  const from = own.findLast(({ changes }) => changes?.contextFrom !== undefined)?.changes?.contextFrom;
  if (from !== undefined) return own.filter(({ turn }) => turn >= from);
  const upTo = stored.chain.sessions.find((entry) => entry.sessionId === latest)?.continuesUpTo ?? {};
  return lineOf(stored, latest).flatMap((id) =>
    (stored.sessions.find(({ sessionId }) => sessionId === id)?.turns ?? []).filter(
      ({ turn }) => turn <= (upTo[id] ?? Infinity),
    ),
  );
}

function lineOf({ chain, ...stored }: StoredKey, sessionId: string): string[] {
  const continues = chain.sessions.find((entry) => entry.sessionId === sessionId)?.continues ?? [];
  return [...new Set([...continues.flatMap((id) => lineOf({ chain, ...stored }, id)), sessionId])];
}

function duplicatesOf(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
