/** Durations in words. */
import humanizeDuration from "humanize-duration";

const shortEnglish = humanizeDuration.humanizer({
  language: "short",
  languages: {
    short: {
      y: () => "y",
      mo: () => "mo",
      w: () => "w",
      d: () => "d",
      h: () => "h",
      m: () => "min",
      s: () => "s",
      ms: () => "ms",
    },
  },
  units: ["d", "h", "m", "s"],
  largest: 2,
  round: true,
  delimiter: " ",
});

/** `ms` milliseconds with at most two units, e.g. `13 h 5 min`. */
export function durationText(ms: number): string {
  return shortEnglish(ms);
}
