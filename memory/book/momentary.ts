/** Tells how long a fact holds that speaks of the present day: noted for good it would be wrong by tomorrow. */
import { toInstant } from "#src/kernel/clock.ts";

const DAY_MS = 86_400_000;

/** How somebody is or what they are about to do; what happened today, "got married today", holds on. */
const STATE =
  /(?:^|[^\p{L}])(?:is|am|are|i'm|'s|feels?|wants?|needs?|will|plans?|cannot|can't|would like|has (?:an?|no|to)|bin|ist|fühlt|suis|est|está|estoy|è|sono|estou|ben)(?!\p{L})/iu;
const HAPPENED =
  /(?<!\p{L})(?:got|became|been|since|starting|born|as of|(?:has|have) (?:just |recently )?\p{L}+(?:ed|en|ught))(?!\p{L})/iu;
/** Habits name such times too, and hold on. */
const HABIT =
  /(?<!\p{L})(?:every|always|usually|often|never|most|each|any ?more|immer|jeden|toujours|siempre|sempre)(?!\p{L})/iu;

const HOLDS: readonly (readonly [pattern: RegExp, days: number])[] = [
  [
    /(?<!\p{L})(?:today|tonight|this (?:morning|afternoon|evening)|heute|aujourd'hui|hoy|oggi|hoje|vandaag)(?!\p{L})/iu,
    1,
  ],
  [
    /(?<!\p{L})(?:tired|sleepy|hungry|thirsty|sick|busy|stressed|angry|sad|upset|bored|exhausted|late|in a (?:hurry|rush|meeting)) (?:right now|at the moment|just now)(?!\p{L})/iu,
    1,
  ],
  [/(?<!\p{L})(?:tomorrow|morgen|demain|domani|amanhã)(?!\p{L})/iu, 2],
  [
    /(?<!\p{L})(?:this week(?:end)?|diese woche|cette semaine|esta semana|questa settimana|deze week)(?!\p{L})/iu,
    7,
  ],
];

/** The instant until which such a fact holds; `undefined` for one that speaks of no such time, or holds on. */
export function momentaryUntil(text: string, nowMs: number): string | undefined {
  const plain = text.replaceAll(/[’‘]/gu, "'");
  if (!STATE.test(plain) || HAPPENED.test(plain) || HABIT.test(plain)) return undefined;
  const days = HOLDS.find(([pattern]) => pattern.test(plain))?.[1];
  return days === undefined ? undefined : toInstant(nowMs + days * DAY_MS);
}
