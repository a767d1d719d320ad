/** Tells whether words name a time, and which kind: the day of a meeting and its hour can both be true. */

const DAY =
  /(?<!\p{L})(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tomorrow|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|next (?:week|month|year)|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)(?!\p{L})|(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)|(?<!\d)\d{1,2}[./]\d{1,2}[./](?:\d{2,4})?/u;
const HOUR =
  /^(?:(?:at|um|à|a las|alle|now|from) )*(?:\d{1,2}(?:[:.h]\d{2})?(?: ?(?:am|pm|a\.m|p\.m|uhr|h|o'clock))|\d{1,2}:\d{2}|noon|midnight|\d{1,2})$/u;
const AT = /^(?:at|um|à|a las|alle) /u;

/** `day` or `hour`; `undefined` for what names no time. */
export function timeAspectOf(value: string): "day" | "hour" | undefined {
  if (DAY.test(value)) return "day";
  return HOUR.test(value) && (AT.test(value) || /\D/u.test(value)) ? "hour" : undefined;
}
