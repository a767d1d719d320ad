/** What a tool of an MCP server gave, as the blocks that a turn reads: text, and pictures, recordings and files as base64. */
import { z } from "zod";

const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  url: z.string().optional(),
  data: z.string().optional(),
  mime_type: z.string().optional(),
});

type Block = z.infer<typeof blockSchema>;

/** Output as LangChain's adapters give it: a text, or a list of blocks. Never throws. */
export function outputOf(output: unknown): unknown {
  const blocks = z.array(blockSchema).safeParse(output);
  if (!blocks.success) return output;
  return blocks.data.length === 0 ? "" : blocks.data.map(toBlock);
}

function toBlock({ type, text, url, data, mime_type: given }: Block): object {
  if (text !== undefined) return { type: "text", text };
  if (url !== undefined) return { type: "text", text: `[a resource at ${url}]` };
  if (data === undefined || data === "") return { type: "text", text: `[an empty part of type ${type}]` };
  const mimeType = given?.split(";")[0]?.trim().toLowerCase() ?? "";
  const isKnown = /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/u.test(mimeType);
  const isAsSaid = isKnown && (type === "image" || type === "audio") && mimeType.startsWith(`${type}/`);
  return {
    type: isAsSaid ? type : "file",
    // Servers leave padding out, or break lines; what is no base64 at all comes to other bytes, which are kept.
    data: Buffer.from(data, "base64").toString("base64"),
    mime_type: isKnown ? mimeType : "application/octet-stream",
  };
}
