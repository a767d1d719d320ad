/** Port: whatever knows the shapes of keys and tokens of known services. */

/** A secret in a text, by code unit. */
export interface SecretFinding {
  /** The scanner's own name of what was found, e.g. `GITHUB_TOKEN`. Never the value. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Finds secrets by their shape. Pure but for loading its rules; rejects when it cannot work, and then nothing is written. */
export type SecretScanner = (text: string) => Promise<readonly SecretFinding[]>;
