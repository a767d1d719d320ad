/** Documents that cannot be read as text: what is told, and what to do. */
import { LilyError } from "#src/kernel/errors.ts";

/** The error for a document that is none, or none that can be read here. Nothing of its content is repeated. */
export function unreadable(name: string, why: string, next: string): LilyError {
  return new LilyError("evidence_unreadable", `${name} ${why}`, { next: `${next} Nothing was stored.` });
}

/** The error for a document that is too much for one. */
export function tooMuch(name: string, what: string): LilyError {
  return new LilyError("file_too_large", `${name} ${what}`, {
    next: "Split it, and give the parts. Nothing was stored.",
  });
}
