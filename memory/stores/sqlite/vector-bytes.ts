/** Vectors as SQLite keeps them: all components as float32, or the sign of each in a bit. */
import { createHash } from "node:crypto";

/** The bytes of a vector, as `vec_distance_cosine` reads them. */
export function floatBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** One bit a component, 1 where it is above 0; the last byte is filled with 0. */
export function signBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(Math.ceil(vector.length / 8));
  for (const [index, component] of vector.entries()) {
    const at = index >> 3;
    if (component > 0) bytes[at] = (bytes[at] ?? 0) | (1 << (index & 7));
  }
  return bytes;
}

/** Tells whether a vector is still that of a text. */
export function textHash(text: string): Buffer {
  return createHash("sha256").update(text).digest().subarray(0, 16);
}
