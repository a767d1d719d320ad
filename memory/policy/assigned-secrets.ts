/** Secrets that stand where programs are told them: variables, fields, tags and options of commands. */
import { looksLikeSecret } from "./secret-shape.ts";
import type { Finding, PolicyRule } from "./verdict.ts";

const SECRET_NAME =
  "(?:pass(?:word|wd|phrase)?|pwd|secret|token|api_?key|access_?key|private_?key|credential)s?";

/** A place, and how a value in it is known: there are placeholders, paths and names in such places too. */
interface Place {
  readonly pattern: RegExp;
  readonly rule: PolicyRule;
  readonly isSecret: (value: string) => boolean;
}

const mixed =
  (length: number) =>
  (value: string): boolean =>
    !/^[$<{*%[]/u.test(value) && looksLikeSecret(value, length);
const any = (value: string): boolean =>
  value.length >= 4 && !/^(?:[$<{*%]|null|true|false|x+$)/iu.test(value);

const PLACES: readonly Place[] = [
  // PGPASSWORD=…, DB_ROOT_PASSWORD: …, spring.datasource.password=…, accountKey=…
  {
    pattern: new RegExp(`(?<![\\p{L}\\p{N}])[\\w.]{0,40}${SECRET_NAME}\\s*=\\s*["']?([^\\s"';,]{6,})`, "giu"),
    rule: "password",
    isSecret: mixed(6),
  },
  {
    pattern: /\b(?:account|shared\s?access)key=([A-Za-z0-9+/]{40,}={0,2})/giu,
    rule: "credential",
    isSecret: any,
  },
  {
    pattern: new RegExp(`["']\\w{0,20}${SECRET_NAME}["']\\s*:\\s*["']([^"'\\n]{4,})["']`, "giu"),
    rule: "password",
    isSecret: mixed(4),
  },
  {
    pattern: new RegExp(`<(\\w{0,20}${SECRET_NAME})>\\s*([^<\\n]{4,}?)\\s*</\\1>`, "giu"),
    rule: "password",
    isSecret: mixed(4),
  },
  {
    pattern: /\b(?:mysql(?:dump|admin)?|mariadb)\b[^\n|;]*?\s-p([^\s'"-]\S{3,})/gu,
    rule: "password",
    isSecret: any,
  },
  {
    pattern:
      /\b(?:sshpass|(?:docker|podman|helm registry|az|npm)\s+login|mosquitto_\w+|mongo(?:sh|dump)?)\b[^\n|;]*?\s-[pP]\s*["']?([^\s'"]{4,})/gu,
    rule: "password",
    isSecret: any,
  },
  {
    pattern:
      /\b(?:curl|wget|https?|xh)\b[^\n|;]*?\s(?:-u|--user|-a|--auth)[\s=]+["']?[^\s:'"]+:([^\s'"]{4,})/gu,
    rule: "password",
    isSecret: any,
  },
  {
    pattern: /\b(?:requirepass|masterauth|identified by|redis-cli\s[^\n|;]*?-a)\s+["']?([^\s'"]{6,})/giu,
    rule: "password",
    isSecret: mixed(6),
  },
  { pattern: /\bcookie:[^\n]*?=([\w%.-]{20,})/giu, rule: "credential", isSecret: mixed(20) },
];

/** Findings of values in such places. */
export function findAssigned(text: string): Finding[] {
  return PLACES.flatMap(({ pattern, rule, isSecret }) =>
    [...text.matchAll(pattern)].flatMap((match): Finding[] => {
      const value = match.at(-1) ?? "";
      const start = match.index + match[0].lastIndexOf(value);
      return isSecret(value) ? [{ rule, start, end: start + value.length }] : [];
    }),
  );
}
