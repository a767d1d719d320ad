/** Expressions on facts that stand in an index and, word for word, in the statements that it serves. */

/** Holds for facts. What is no JSON any more is none: an index over it could not be made, and the file not be opened. */
export const IS_FACT = `index_fields = '["text"]' AND json_valid(value)`;

/** When a fact was changed last. */
export const NEWNESS = "value ->> '$.updated_at'";

/** What a fact is about, as JSON. */
export const CONFLICT_GROUP = "value -> '$.conflict_group'";

// As `stateOf` has it, but for expiry, which depends on when one asks: so the instant itself stands for it.
/** The state of a fact: the name of it, or the instant at which it expires, or null. */
export const FACT_STATE = `CASE
  WHEN value ->> '$.id' IS NOT key OR value -> '$.schema_version' IS NOT '1' THEN 'unreadable'
  WHEN value -> '$.superseded_by' IS NOT 'null' THEN 'superseded'
  WHEN value -> '$.archived' IS NOT 'false' THEN 'archived'
  ELSE value ->> '$.expires_at' END`;
