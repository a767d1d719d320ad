/** Sizes for people. */

const UNITS = ["B", "kB", "MB", "GB", "TB"];
const STEP = 1000;

/** `bytes` with three digits at most and a decimal unit: "512 B", "12.3 kB", "4 GB". */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  const text = unit === 0 || value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/u, "");
  return `${text} ${UNITS[unit]}`;
}
