/** What turns texts into vectors: the port, and the one place where what comes out of it is checked. */
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";

/** Turns texts into vectors whose cosine tells how much two texts mean the same. */
export interface Embedder {
  /** Names the model and all else that changes its vectors: vectors of different names are never compared. */
  readonly model: string;
  /** One vector a text, in their order. May fail and may take long: nothing that is stored waits for it. */
  embed(texts: readonly string[]): Promise<readonly ArrayLike<number>[]>;
}

/**
 * The vectors of `texts`, each of length 1.
 *
 * @throws {LilyError} `embedding_failed`, also when what comes back are not as many vectors of one length.
 */
export async function embedTexts(embedder: Embedder, texts: readonly string[]): Promise<Float32Array[]> {
  if (texts.length === 0) return [];
  const raw = await embedder.embed(texts).catch((error: unknown) => {
    throw isLilyError(error) ? error : embeddingFailed(embedder, errorMessage(error), error);
  });
  const vectors = raw.flatMap((vector) => toUnitLength(vector) ?? []);
  if (vectors.length !== texts.length || new Set(vectors.map(({ length }) => length)).size > 1)
    throw embeddingFailed(embedder, `it gave ${raw.length} vectors for ${texts.length} texts, or no vectors`);
  return vectors;
}

/** `vector` with length 1; `undefined` for what has no direction or holds what is no number. */
function toUnitLength(vector: ArrayLike<number>): Float32Array | undefined {
  const unit = Float32Array.from(vector);
  const length = Math.sqrt(unit.reduce((sum, component) => sum + component * component, 0));
  if (!(length > 0 && Number.isFinite(length))) return undefined;
  return unit.map((component) => component / length);
}

/** The error for an embedder that gave nothing usable. */
export function embeddingFailed(
  { model }: Pick<Embedder, "model">,
  detail: string,
  cause?: unknown,
): LilyError {
  return new LilyError("embedding_failed", `the embedder ${model} failed: ${detail}`, {
    next: "Nothing is lost: search goes by words, and the vectors are made later.",
    cause,
  });
}
