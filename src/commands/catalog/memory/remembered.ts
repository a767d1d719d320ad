/** Writes to memory, whose text may be a secret, and what came of them: what goes wrong is told, never thrown into the log of failures. */
import { joined, quoted } from "#src/kernel/markdown.ts";
import { done, envelopeOf, refused, type Envelope } from "#src/kernel/envelope.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import type { RememberOutcome, Who } from "#memory/facts/types.ts";
import { denialEnvelope, type HiddenText, type PolicyDenial } from "#memory/policy/verdict.ts";
import { PERSONALITY_DOMAINS, shortId, type MemoryRecord } from "#memory/record.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import type { CommandOutcome } from "../../command.ts";
import { domainText, factNames, recordRow, type RowMoment } from "./record-row.ts";
import { notFound } from "./find-record.ts";
import { momentOf, type ActionContext } from "./memory-action.ts";

type Stored = Extract<RememberOutcome, { kind: "stored" }>;
type Known = Extract<RememberOutcome, { kind: "known" }>;

/** The outcome of a command that wrote a fact. Only what changed something is committed; a refused text is not. */
function rememberedOutcome(outcome: RememberOutcome, who: Who, moment: RowMoment): CommandOutcome {
  switch (outcome.kind) {
    case "stored":
      return { envelope: storedEnvelope(outcome, moment), isCommitted: true };
    case "known":
      return knownOutcome(outcome, who, moment);
    case "denied":
      return { envelope: deniedEnvelope(outcome.denial) };
    case "quarantined":
      return { envelope: quarantinedEnvelope(outcome.record, moment), isCommitted: true };
    case "forgotten":
      return { envelope: stayedForgotten() };
  }
}

function storedEnvelope(
  { record, superseded, conflicts, revived, domainRule, hidden }: Stored,
  moment: RowMoment,
) {
  const parts = [
    `Remembered (${whereText(record)}): “${record.text}”.`,
    record.expires_at === null ? "" : `It holds until ${localTime(record.expires_at, moment.timeZone)}.`,
    superseded.length === 0 ? "" : `It takes the place of ${factNames(superseded)}.`,
    conflicts.length === 0 ? "" : `It is about the same as ${factNames(conflicts)}, and both are kept.`,
    revived ? "It had been forgotten, and is back because you asked." : "",
    hidden === null ? "" : hiddenText(hidden),
  ];
  const short = shortId(record.id);
  return done("memory_stored", joined(parts), {
    next:
      conflicts.length === 0
        ? `/forget ${short} erases it, /memory edit ${short} <text> corrects it${otherDomain(record, domainRule)}.`
        : `/memory resolve <id> says which one holds; /memory conflicts lists them.`,
    data: {
      record: recordRow(record, moment),
      superseded: superseded.map((old) => recordRow(old, moment)),
      conflicts: conflicts.map((other) => recordRow(other, moment)),
      revived,
      domainRule,
      hidden,
    },
  });
}

/** The way to another domain, where the caller has not named this one. */
function otherDomain({ id, domain }: MemoryRecord, domainRule: string | null): string {
  if (domainRule === null) return "";
  const others = PERSONALITY_DOMAINS.filter((other) => other !== domain).join("|");
  return `, /memory edit ${shortId(id)} --domain ${others} moves it`;
}

/** A command that was cut off after its write, or that wrote before its session was ended, finds its own record. */
function knownOutcome({ record, confirmed, hidden }: Known, who: Who, moment: RowMoment): CommandOutcome {
  if (record.session_id === who.sessionId && record.turn === who.turn && who.turn !== undefined) {
    const own: Stored = {
      kind: "stored",
      record,
      superseded: [],
      conflicts: [],
      revived: false,
      domainRule: null,
      hidden,
    };
    return { envelope: storedEnvelope(own, moment), isCommitted: true };
  }
  const when = localTime(record.created_at, moment.timeZone);
  const parts = [
    `That is remembered already, since ${when} (${whereText(record)}): “${record.text}”.`,
    confirmed ? "It counts as confirmed now." : "",
    hidden === null ? "" : hiddenText(hidden),
  ];
  const envelope = done("memory_known", joined(parts), {
    data: { record: recordRow(record, moment), confirmed, hidden },
  });
  return confirmed ? { envelope, isCommitted: true } : { envelope };
}

function quarantinedEnvelope(record: MemoryRecord, moment: RowMoment): Envelope {
  const rule = record.review?.rule ?? "";
  return done("memory_quarantined", `Put aside for a review, not remembered (rule ${rule}).`, {
    next: "/memory review shows it; /memory review accept <id> or reject <id> decides.",
    data: { rule, record: recordRow(record, moment) },
  });
}

function stayedForgotten(): Envelope {
  return refused("memory_not_found", "this was forgotten, and only /remember brings it back", {
    next: "Nothing was stored.",
  });
}

function whereText({ domain, task }: MemoryRecord): string {
  return task === null ? `${domain}, ${domainText(domain)}` : `task ${quoted(task)}`;
}

/** What was hidden is written by its codes: the characters themselves would hide again. */
function hiddenText({ codes }: HiddenText): string {
  const kinds = codes.map(({ code, name, count }) => `${count} × ${name} (${code})`).join(", ");
  return `Characters that nobody sees were taken out: ${kinds}.`;
}

/**
 * The refusal without the masked text: a reply is kept in the state of the session, where a mask that ends too early
 * would leave the rest of a secret.
 */
function deniedEnvelope({ rule, message, next }: PolicyDenial): Envelope {
  return denialEnvelope({ rule, message, next });
}

/** What the policy has against a text, or against a name such as that of a task. */
export async function objectionTo(
  text: string,
  { memory }: ActionContext,
  options: { readonly isName?: boolean } = {},
): Promise<Envelope | undefined> {
  try {
    const denial = await memory.denial(text, options);
    return denial === undefined ? undefined : deniedEnvelope(denial);
  } catch (error) {
    return toldError(error);
  }
}

/** What came of a write. An error is told, not thrown: what is thrown is logged with the text, which may be a secret. */
export async function guarded(
  context: ActionContext,
  write: () => Promise<RememberOutcome | { readonly kind: "none" }>,
): Promise<CommandOutcome> {
  try {
    const outcome = await write();
    if (outcome.kind === "none") return { envelope: notFound() };
    return rememberedOutcome(outcome, context.memory.who, momentOf(context));
  } catch (error) {
    return { envelope: toldError(error) };
  }
}

/** The envelope of an error, which says nothing of the text unless it is one of ours. */
function toldError(error: unknown): Envelope {
  if (isLilyError(error)) return envelopeOf(error);
  return refused("memory_unavailable", "memory could not be asked, and nothing was remembered", {
    next: "Try again; lily doctor says what is wrong with the files.",
  });
}
