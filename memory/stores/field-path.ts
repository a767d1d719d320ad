/** LangGraph's notation for a place in a value: `a.b`, `list[*].text`, `list[0]`, `list[-1]`, `{a,b}`, `*`. */

const TOKEN = /\[[^\]]*\]|\{[^}]*\}|[^.[\]{}]+/gu;

/** The steps of a field path, brackets and braces kept: `a.b[*]` gives `a`, `b`, `[*]`. */
export function tokenizePath(path: string): string[] {
  return path.match(TOKEN) ?? [];
}
