/** Reads the name of a personality domain, as flags give it. */
import { PERSONALITY_DOMAINS, type PersonalityDomain } from "#memory/record.ts";

/** What a flag `--domain` came to. */
export type DomainFlag =
  | { readonly ok: true; readonly domain: PersonalityDomain | undefined }
  | { readonly ok: false; readonly problem: string };

/** The domain of that name, with `-` or `_`, in any case; none when there is no flag. */
export function readDomain(text: string | undefined): DomainFlag {
  if (text === undefined) return { ok: true, domain: undefined };
  const wanted = text.toLowerCase().replaceAll("-", "_");
  const domain = PERSONALITY_DOMAINS.find((known) => known === wanted);
  if (domain !== undefined) return { ok: true, domain };
  return { ok: false, problem: `a domain is one of ${PERSONALITY_DOMAINS.join(", ")}` };
}
