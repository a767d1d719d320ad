import { expect, it } from "vitest";
import { done } from "#src/kernel/envelope.ts";
import { createWaitingReceipts } from "./waiting-receipts.ts";

const at = (deliveryId: string, owner = "ada") => ({ owner, sessionKey: "cli:main", deliveryId });

it("gives a receipt to the message that asked for it, and to nobody else's of the same id", () => {
  const receipts = createWaitingReceipts();
  receipts.keep(at("d1"), done("erased", "one"));
  expect(receipts.of(at("d1"))?.message).toBe("one");
  expect([receipts.of(at("d1", "bob")), receipts.of(at("d2"))]).toEqual([undefined, undefined]);
});

it("keeps the newest hundred", () => {
  const receipts = createWaitingReceipts();
  for (let nr = 1; nr <= 101; nr += 1) receipts.keep(at(`d${nr}`), done("erased", String(nr)));
  expect(receipts.of(at("d1"))).toBeUndefined();
  expect(receipts.of(at("d2"))?.message).toBe("2");
});
