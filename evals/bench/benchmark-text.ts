/** The texts of the benchmarks: the same on every machine, no two alike. */

const WORDS =
  `the harbour master wrote that three boats would leave before the tide and asked whether anyone had seen
  the blue ledger since last winter because its pages hold the weights of every crate we moved`.split(/\s+/u);

/** Text number `index` of about forty words; `kind` tells questions from answers. */
export function benchmarkText(index: number, kind: string): string {
  const shift = index % WORDS.length;
  const turned = [...WORDS.slice(shift), ...WORDS.slice(0, shift)];
  return `${kind} ${index}: ${turned.join(" ")} item ${index * 7} and item ${index * 13}`;
}
