/** `lily sessions`: the session keys of the owner with their sessions. */
import { done, exitCodeOf, type Envelope } from "#src/kernel/envelope.ts";
import type { CliContext, CliOptions } from "./context.ts";
import type { Engine } from "./engine.ts";
import { printableKey } from "./printable.ts";
import { renderBody, renderEnvelope } from "./render/render-envelope.ts";
import { screenOf, type Screen } from "./screen.ts";

/** Lists the sessions that match `query`, all for `""`. Returns the exit code. */
export async function listSessions(
  engine: Engine,
  context: CliContext,
  { query, options }: { readonly query: string; readonly options: CliOptions },
): Promise<number> {
  const damaged: string[] = [];
  const chains = await engine.repository.listChains(engine.owner, ({ problem }) => damaged.push(problem));
  const wanted = chains.filter(({ sessionKey }) => options.key === undefined || sessionKey === options.key);
  const found: Envelope[] = [];
  for (const { sessionKey } of wanted) {
    const { envelope } = await engine.send({ sessionKey, content: `/sessions ${query}`.trim() });
    if (!envelope.ok) return write(envelope, context, options);
    if (listedIn(envelope).length > 0) found.push(envelope);
  }
  return write(naming(combine(found, { query, key: options.key }), damaged), context, options, found);
}

function combine(
  found: readonly Envelope[],
  { query, key }: { readonly query: string; readonly key: string | undefined },
): Envelope {
  const keys = found.map(({ data }) => ({ ...data }));
  const total = found.reduce((sum, envelope) => sum + listedIn(envelope).length, 0);
  const where = key === undefined ? "" : ` under ${JSON.stringify(key)}`;
  const what = query === "" ? "" : ` that match ${JSON.stringify(query)}`;
  if (total === 0) {
    return done("sessions", `There are no conversations${where}${what}.`, { data: { keys: [] } });
  }
  const count = `${total} ${total === 1 ? "session" : "sessions"} under ${keys.length} ${keys.length === 1 ? "key" : "keys"}`;
  return done("sessions", `${count}${what}.`, {
    next: "lily --key <key> goes on with a key; /resume <number> in it with one of its sessions.",
    data: { keys },
  });
}

/** Keys that cannot be read are named; the others are listed all the same. */
function naming(listed: Envelope, damaged: readonly string[]): Envelope {
  if (damaged.length === 0) return listed;
  const message = `${listed.message}\nDamaged: ${damaged.join("; ")}.`;
  return { ...listed, message, next: "lily verify tells more.", data: { ...listed.data, damaged } };
}

function listedIn({ data }: Envelope): readonly unknown[] {
  const sessions = data?.["sessions"];
  return Array.isArray(sessions) ? sessions : [];
}

function write(
  envelope: Envelope,
  context: CliContext,
  options: CliOptions,
  found: readonly Envelope[] = [],
): number {
  const screen = screenOf(context.stdout, context.env);
  if (options.json) context.stdout.write(`${JSON.stringify(envelope)}\n`);
  else if (envelope.ok) context.stdout.write(`${listText(envelope, found, screen)}\n`);
  else context.stderr.write(`${renderEnvelope(envelope, screenOf(context.stderr, context.env))}\n`);
  return exitCodeOf(envelope);
}

function listText(envelope: Envelope, found: readonly Envelope[], screen: Screen): string {
  const tables = found.map((listed) => {
    const named = listed.data?.["sessionKey"];
    const key = printableKey(typeof named === "string" ? named : "");
    return `${screen.paint.bold(key)}\n\n${renderBody(listed, screen)}`;
  });
  return [...tables, renderEnvelope(envelope, screen)].join("\n\n");
}
