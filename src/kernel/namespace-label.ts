/** The one place that turns an id into a namespace label which no store gives a meaning to. */

// ASCII letters, digits and "-", and everything beyond ASCII that is well formed, stand for themselves. The rest is
// written as "=" and two hex digits: "." and ":" separate labels in some stores, "%" and "_" are wildcards in others,
// and "=" is the escape itself.
const PLAIN = /^[A-Za-z0-9-]$/;

/**
 * The label for `id`. Different ids have different labels, equal ids equal ones; case and Unicode form are kept.
 * An empty id gives `=`, which no other id gives.
 */
export function encodeLabel(id: string): string {
  if (id === "") return "=";
  let label = "";
  for (const character of id) {
    label += PLAIN.test(character) || character > "\u009f" ? character : escape(character);
  }
  return label;
}

/** The id of a label that {@link encodeLabel} made. */
export function decodeLabel(label: string): string {
  if (label === "=") return "";
  return label.replace(/=([0-9A-F]{2})/gu, (_escape, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function escape(character: string): string {
  return `=${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
