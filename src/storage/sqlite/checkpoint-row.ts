/** Makes a checkpoint of its rows. One that was changed from outside and cannot be read counts as absent. */
import { crc32 } from "node:zlib";
import type {
  Checkpoint,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import { isRecord } from "#src/kernel/is-record.ts";
import type { StateSerde } from "../checkpoints/state-serde.ts";
import type { CheckpointRow, WriteRow } from "./checkpoint-statements.ts";

/** What is read of a row. */
type ReadCheckpoint = Pick<CheckpointTuple, "checkpoint" | "metadata">;

/** Metadata name of the checksum; LangGraph and other readers pass over what they do not know. */
const CHECKSUM = "lily_crc32";

/** The metadata as text, with the checksum of the checkpoint's text. */
export function metadataText(serde: StateSerde, metadata: CheckpointMetadata, checkpoint: string): string {
  return serde.dumps({ ...metadata, [CHECKSUM]: crc32(checkpoint) });
}

/** Reads a row; `undefined` when it is not what was once put. Rows of older versions and other programs have no checksum. */
export function readCheckpoint(
  serde: StateSerde,
  row: Pick<CheckpointRow, "checkpoint" | "metadata">,
): ReadCheckpoint | undefined {
  try {
    const told = serde.loads(textOf(row.metadata));
    if (!isRecord(told)) return undefined;
    const { [CHECKSUM]: checksum, ...metadata } = told;
    if (checksum !== undefined && checksum !== crc32(row.checkpoint)) return undefined;
    const checkpoint = serde.loads(textOf(row.checkpoint));
    if (!isCheckpoint(checkpoint)) return undefined;
    return { checkpoint, metadata: metadata as unknown as CheckpointMetadata };
  } catch {
    // Not JSON, or not of the form that the serializer writes: whoever asked is given the next older one.
    return undefined;
  }
}

// By hand: what a schema takes a fresh process to check a first time is as much as all else that it reads.
function isCheckpoint(value: unknown): value is Checkpoint {
  if (!isRecord(value)) return false;
  const { v, id, ts, channel_values: values, channel_versions: versions, versions_seen: seen } = value;
  if (typeof v !== "number" || typeof id !== "string" || typeof ts !== "string") return false;
  return isRecord(values) && isRecord(versions) && isRecord(seen);
}

/** What tasks have written after a checkpoint. A task of which a part cannot be read counts as not carried out. */
export function readWrites(serde: StateSerde, rows: readonly WriteRow[]): CheckpointPendingWrite[] {
  const lost = new Set<string>();
  const writes = rows.map(({ task_id: taskId, channel, type, value }): CheckpointPendingWrite => {
    try {
      return [taskId, channel, type === "bytes" ? value : serde.loads(textOf(value ?? "null"))];
    } catch {
      lost.add(taskId);
      return [taskId, channel, undefined];
    }
  });
  return lost.size === 0 ? writes : writes.filter(([taskId]) => !lost.has(taskId));
}

function textOf(stored: string | Uint8Array): string {
  return typeof stored === "string" ? stored : new TextDecoder().decode(stored);
}
