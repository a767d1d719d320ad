/** `lily sessions`: the session keys of the owner with their sessions. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted } from "#src/kernel/markdown.ts";
import type { CliContext, CliOptions } from "./context.ts";
import type { Engine } from "./engine.ts";
import { printableKey } from "./printable.ts";
import { renderBody } from "./render/render-envelope.ts";
import { screenOf, type Screen } from "./screen.ts";
import { tell } from "./tell.ts";

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
    if (!envelope.ok) return tell(context, options, { envelope });
    if (listedIn(envelope).length > 0) found.push(envelope);
  }
  const envelope = naming(combine(found, { query, key: options.key }), damaged);
  const tables = tablesOf(found, screenOf(context.stdout, context.env));
  return tell(context, options, { envelope, tables });
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
  const count = `${counted(total, "session")} under ${counted(keys.length, "key")}`;
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

/** The tables of the keys, each below its name. */
function tablesOf(found: readonly Envelope[], screen: Screen): string[] {
  return found.map((listed) => {
    const named = listed.data?.["sessionKey"];
    const key = printableKey(typeof named === "string" ? named : "");
    return `${screen.paint.bold(key)}\n\n${renderBody(listed, screen)}`;
  });
}
