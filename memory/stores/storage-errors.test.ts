import { Pool } from "pg";
import { expect, it } from "vitest";
import { LilyError } from "#src/kernel/errors.ts";
import { PostgresDatabase } from "./postgres/postgres-database.ts";
import { retryBusy, toPostgresError } from "./storage-errors.ts";

const SERVER = "db.example:5432/lily";

function failure(code: string | undefined, message = "as reported"): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

it.each([
  ["a full disk", "53100", "storage_full"],
  ["too many connections", "53300", "storage_busy"],
  ["no memory left", "53200", "storage_busy"],
  ["a deadlock", "40P01", "storage_busy"],
  ["a serialization failure", "40001", "storage_busy"],
  ["a server that starts up", "57P03", "storage_busy"],
  ["a statement that was cancelled", "57014", "storage_busy"],
  ["a server that shuts down", "57P01", "storage_unreachable"],
  ["a wrong password", "28P01", "storage_failed"],
  ["a database that does not exist", "3D000", "storage_failed"],
  ["a right that is missing", "42501", "storage_failed"],
  ["a standby", "25006", "storage_readonly"],
  ["a damaged page", "XX001", "storage_damaged"],
  ["a mistake in a statement", "42601", "storage_failed"],
  ["a server that is not there", "ECONNREFUSED", "storage_unreachable"],
  ["a host without an address", "ENOTFOUND", "storage_unreachable"],
])("says what %s is, and on which server", (_what, code, expected) => {
  const cause = failure(code);
  const error = toPostgresError(cause, SERVER);
  expect(error).toMatchObject({ code: expected, cause });
  expect(String(error)).toContain(`the database ${SERVER} `);
  expect(String(error)).toContain(`(${code}: as reported)`);
});

it.each([
  ["Connection terminated unexpectedly", "storage_unreachable"],
  ["timeout exceeded when trying to connect", "storage_unreachable"],
  ["Query read timeout", "storage_busy"],
])("knows the client's own error %j", (message, expected) => {
  expect(toPostgresError(failure(undefined, message), SERVER)).toMatchObject({ code: expected });
});

it("leaves errors alone that are not the server's", () => {
  const others = [
    new LilyError("lease_lost", "over"),
    new TypeError("x is not a function"),
    failure("ERR_INVALID_ARG_TYPE"),
    "text",
  ];
  for (const other of others) expect(toPostgresError(other, SERVER)).toBe(other);
});

it("tries a deadlock again, but not for ever, and nothing else", async () => {
  const database = new PostgresDatabase(new Pool(), SERVER);
  const attempts = async (code: string, successAt: number): Promise<number> => {
    let attempt = 0;
    const work = (): Promise<void> => {
      attempt += 1;
      return attempt < successAt ? Promise.reject(failure(code)) : Promise.resolve();
    };
    await database.run(work).catch(() => undefined);
    return attempt;
  };
  expect(await attempts("40P01", 3)).toBe(3);
  expect(await attempts("40001", 100)).toBe(5);
  expect(await attempts("23505", 3)).toBe(1);
});

it("waits for a SQLite file until the deadline, and then says which file is busy", async () => {
  let attempts = 0;
  const work = (): void => {
    attempts += 1;
    throw failure("SQLITE_BUSY");
  };
  const refusal = { code: "storage_busy", message: expect.stringContaining("x.sqlite") as unknown };
  await expect(retryBusy(work, { file: "x.sqlite", deadlineMs: 20 })).rejects.toMatchObject(refusal);
  expect(attempts).toBeGreaterThan(1);
});
