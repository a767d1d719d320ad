/** How text from outside stands in a prompt: on one line, and unable to open or close a fence. */

/** Line breaks and runs of white space become one space, and brackets of tags are written as entities. */
export function escapeData(text: string): string {
  return text
    .replaceAll(/[\s\u0085]{2,}|[^\S ]|\u0085/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
