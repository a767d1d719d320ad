/** `lily sessions`: the session keys of the owner with their sessions. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted } from "#src/kernel/markdown.ts";
import type { CliContext } from "./context.ts";
import { printableKey } from "./printable.ts";
import { renderBody } from "./render/render-envelope.ts";
import { screenOf } from "./screen.ts";
import { tell } from "./tell.ts";
import { withEngine } from "./with-engine.ts";

/** Lists the sessions that match `query`, all for `""`. Returns the exit code. */
export async function listSessions(context: CliContext, query: string): Promise<number> {
  const screen = screenOf(context.stdout, context.env);
  return withEngine(context, async ({ owner, repository, send }) => {
    const damaged: string[] = [];
    const chains = await repository.listChains(owner, ({ problem }) => damaged.push(problem));
    const found: Envelope[] = [];
    const tables: string[] = [];
    for (const { sessionKey } of chains) {
      if (context.key !== undefined && context.key !== sessionKey) continue;
      const { envelope } = await send({ sessionKey, content: `/sessions ${query}`.trim() });
      if (!envelope.ok) return tell(context, envelope);
      if (listedIn(envelope) === 0) continue;
      found.push(envelope);
      tables.push(`${screen.paint.bold(printableKey(sessionKey))}\n\n${renderBody(envelope, screen)}`);
    }
    return tell(context, combine(context, query, { found, damaged }), tables);
  });
}

/** Keys that cannot be read are named; the others are listed all the same. */
function combine(
  { key }: CliContext,
  query: string,
  { found, damaged }: { readonly found: readonly Envelope[]; readonly damaged: readonly string[] },
): Envelope {
  const total = found.reduce((sum, envelope) => sum + listedIn(envelope), 0);
  const where = key === undefined ? "" : ` under ${JSON.stringify(key)}`;
  const what = query === "" ? "" : ` that match ${JSON.stringify(query)}`;
  const told =
    total === 0
      ? `There are no conversations${where}${what}.`
      : `${counted(total, "session")} under ${counted(found.length, "key")}${what}.`;
  const data = { keys: found.map((envelope) => ({ ...envelope.data })) };
  if (damaged.length > 0)
    return done("sessions", `${told}\nDamaged: ${damaged.join("; ")}.`, {
      next: "lily verify tells more.",
      data: { ...data, damaged },
    });
  if (total === 0) return done("sessions", told, { data });
  const next = "lily --key <key> goes on with a key; /resume <number> in it with one of its sessions.";
  return done("sessions", told, { next, data });
}

/** How many sessions `/sessions` has listed. */
function listedIn({ data }: Envelope): number {
  const sessions = data?.["sessions"];
  return Array.isArray(sessions) ? sessions.length : 0;
}
