/** The one table of error codes: what can go wrong, and how a program tells. */

interface CodeEntry {
  /** HTTP status of a response that carries the code. */
  readonly http: number;
  /** Exit code of a command-line call that ends with the code (sysexits where one fits). */
  readonly exit: number;
}

/**
 * Every error code with its HTTP status and exit code. Codes are a public contract: they are added, never renamed.
 * 2 = usage, 65 = bad data, 66 = not found, 69 = unavailable, 70 = internal, 73 = cannot write, 75 = try again,
 * 77 = not allowed, 78 = bad configuration.
 */
export const ERROR_CODES = {
  message_blank: { http: 422, exit: 2 },
  message_invalid: { http: 422, exit: 2 },
  message_too_large: { http: 413, exit: 2 },
  message_multiple: { http: 422, exit: 2 },
  session_key_invalid: { http: 422, exit: 2 },
  session_id_invalid: { http: 422, exit: 2 },
  session_key_mismatch: { http: 409, exit: 2 },
  session_not_found: { http: 404, exit: 66 },
  session_not_yours: { http: 404, exit: 77 },
  session_ambiguous: { http: 409, exit: 2 },
  delivery_id_invalid: { http: 422, exit: 2 },
  delivery_conflict: { http: 409, exit: 65 },
  command_unknown: { http: 404, exit: 2 },
  command_usage: { http: 422, exit: 2 },
  model_unknown: { http: 422, exit: 2 },
  agent_unknown: { http: 422, exit: 2 },
  plugin_unknown: { http: 422, exit: 2 },
  plugin_unavailable: { http: 409, exit: 78 },
  model_failed: { http: 502, exit: 69 },
  turn_failed: { http: 500, exit: 70 },
  turn_conflict: { http: 409, exit: 75 },
  turn_stopped: { http: 409, exit: 130 },
  turn_waiting: { http: 409, exit: 75 },
  approval_answered: { http: 409, exit: 65 },
  approval_not_found: { http: 404, exit: 66 },
  turn_loop: { http: 500, exit: 70 },
  lease_lost: { http: 409, exit: 75 },
  lease_timeout: { http: 503, exit: 75 },
  rotation_failed: { http: 500, exit: 70 },
  config_invalid: { http: 500, exit: 78 },
  storage_busy: { http: 503, exit: 75 },
  storage_full: { http: 507, exit: 73 },
  storage_damaged: { http: 500, exit: 65 },
  storage_readonly: { http: 500, exit: 73 },
  storage_newer: { http: 500, exit: 78 },
  storage_unreachable: { http: 503, exit: 69 },
  storage_failed: { http: 500, exit: 70 },
  namespace_invalid: { http: 422, exit: 2 },
  value_not_json: { http: 422, exit: 65 },
  record_invalid: { http: 500, exit: 65 },
  legacy_mode: { http: 409, exit: 2 },
  unauthenticated: { http: 401, exit: 77 },
  forbidden: { http: 403, exit: 77 },
  request_invalid: { http: 422, exit: 2 },
  request_too_large: { http: 413, exit: 2 },
  route_not_found: { http: 404, exit: 66 },
  rate_limited: { http: 429, exit: 75 },
  draining: { http: 503, exit: 75 },
  verify_failed: { http: 409, exit: 65 },
  backup_invalid: { http: 409, exit: 65 },
  backup_exists: { http: 409, exit: 73 },
  upkeep_unsupported: { http: 501, exit: 69 },
  doctor_failed: { http: 409, exit: 65 },
  embedding_failed: { http: 502, exit: 69 },
  turn_not_found: { http: 404, exit: 66 },
  memory_policy_denied: { http: 422, exit: 77 },
  memory_owner_missing: { http: 422, exit: 2 },
  memory_input_invalid: { http: 422, exit: 2 },
  memory_not_found: { http: 404, exit: 66 },
  memory_ambiguous: { http: 409, exit: 2 },
  memory_off: { http: 409, exit: 78 },
  memory_unavailable: { http: 501, exit: 69 },
  file_failed: { http: 422, exit: 66 },
  files_unavailable: { http: 501, exit: 69 },
  file_too_large: { http: 413, exit: 65 },
  evidence_unreadable: { http: 422, exit: 65 },
  evidence_unsupported: { http: 422, exit: 2 },
  evidence_not_found: { http: 404, exit: 66 },
  evidence_ambiguous: { http: 409, exit: 2 },
  kb_not_found: { http: 404, exit: 66 },
  confirmation_needed: { http: 409, exit: 2 },
  turn_running: { http: 409, exit: 75 },
  erasure_unfinished: { http: 409, exit: 75 },
  erasure_unsupported: { http: 501, exit: 69 },
  internal: { http: 500, exit: 70 },
} as const satisfies Record<string, CodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An unexpected outcome with a stable code, the fact in plain words, and the way out. */
export class LilyError extends Error {
  readonly code: ErrorCode;
  /** What the person or program can do next; one sentence. */
  readonly next: string | undefined;

  constructor(code: ErrorCode, message: string, options: { next?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "LilyError";
    this.code = code;
    this.next = options.next;
  }
}

/** Whether `error` is a {@link LilyError}, also one made by another copy of this module. */
export function isLilyError(error: unknown): error is LilyError {
  return error instanceof Error && error.name === "LilyError" && "code" in error;
}

/** The text of anything that was thrown. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // An object without a prototype cannot be made text.
    return "something that is no error was thrown";
  }
}
