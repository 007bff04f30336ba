import { createHash } from 'node:crypto';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { ObservedField } from '../log-store/catalog/field-observer.ts';
import {
  createTurns,
  toBuffer,
  tooManyEvents,
  createEventBatch,
  observeSegment,
  type EventBatch,
  type ObserveTask,
} from '../log-ingest/body/event-batch.ts';
import { inflateBody } from '../log-ingest/body/inflate.ts';
import type { WrittenFile } from '../log-store/files/segment-file.ts';
import { readLogBody, type LogBody, type LogBodyTask } from '../log-ingest/body/read-log-body.ts';
import type { DecodedEvent } from './formats/body-decoder.ts';
import { createDecoder, type ShipperFormat } from './formats/shipper-format.ts';

/** A shipper's body to read into segment files of `folder`, the organization's log folder. */
export type ShipperBodyTask = { format: ShipperFormat; folder: string; body: Uint8Array; nowMicros: number };

/** The events of one dataset, in a synced file. `explicitIds` has the hashes of the IDs that the shipper gave, with their items. */
export type ShipperBatch = {
  id: string;
  dataset: string;
  file: WrittenFile;
  observed: ObservedField[];
  undated: number;
  explicitIds: { hash: string; item: number; id: string }[];
};

/**
 * A shipper's body that was read. `batchOfItem` has the position of the batch of each item, or -1 if it is in `rejected`. `repeated` has the
 * items whose ID an earlier item of the body has. `items` is what the decoder says about them.
 */
export type ShipperBody = {
  hash: Uint8Array;
  batches: ShipperBatch[];
  batchOfItem: number[];
  rejected: { item: number; reason: string }[];
  repeated: number[];
  items: unknown;
};

const eventsMax = 100_000;
const datasetsMax = 100;

type OpenBatch = { id: string; dataset: string; position: number; batch: EventBatch; ids: Map<string, number> };

/** Reads a body of a shipper's protocol and writes its valid events to a synced file per dataset. After an error, no file is left. */
export async function readShipperBody(task: ShipperBodyTask): Promise<ShipperBody> {
  const open = new Map<string, OpenBatch>();
  const outcome = { batchOfItem: [] as number[], rejected: [] as ShipperBody['rejected'], repeated: [] as number[] };
  const getBatch = (dataset: string): OpenBatch | undefined => {
    const existing = open.get(dataset);
    if (existing || open.size >= datasetsMax) return existing;
    const id = uuidv7();
    const batch = createEventBatch({ ...task, id, dataset });
    const added = { id, dataset, position: open.size, batch, ids: new Map<string, number>() };
    open.set(dataset, added);
    return added;
  };
  const addEvent = async ({ item, dataset, event, explicitId }: DecodedEvent): Promise<void> => {
    if (outcome.batchOfItem.length >= eventsMax) throw tooManyEvents(eventsMax);
    const target = typeof event === 'string' ? undefined : getBatch(dataset);
    outcome.batchOfItem.push(target?.position ?? -1);
    if (typeof event === 'string') outcome.rejected.push({ item, reason: event });
    else if (!target) outcome.rejected.push({ item, reason: `the body has more than ${datasetsMax} datasets` });
    else if (explicitId !== undefined && target.ids.has(explicitId)) outcome.repeated.push(item);
    else {
      if (explicitId !== undefined) target.ids.set(explicitId, item);
      await target.batch.add(event, item);
    }
  };
  try {
    const { hash, items } = await readEvents(task, addEvent);
    const batches: ShipperBatch[] = [];
    for (const { id, dataset, batch, ids } of open.values()) {
      const file = (await batch.finish())!;
      const explicitIds = [...ids].map(([text, item]) => ({ id: text, item, hash: hashId(dataset, text) }));
      batches.push({ id, dataset, file, observed: batch.observed(), undated: batch.undated, explicitIds });
    }
    return { hash, batches, items, ...outcome };
  } catch (error) {
    for (const { batch } of open.values()) await batch.discard();
    throw error;
  }
}

async function readEvents(
  { format, body }: ShipperBodyTask,
  addEvent: (event: DecodedEvent) => Promise<void>,
): Promise<{ hash: Uint8Array; items: unknown }> {
  const decoder = createDecoder(format);
  const inflated = inflateBody(toBuffer(body), decoder.bytesMax);
  const takeTurn = createTurns();
  const addAll = async (events: Iterable<DecodedEvent>): Promise<void> => {
    for (const event of events) {
      await addEvent(event);
      const turn = takeTurn();
      if (turn) await turn;
    }
  };
  for await (const slice of inflated.slices) await addAll(decoder.push(slice));
  await addAll(decoder.end());
  return { hash: inflated.hash(), items: decoder.describeItems?.() };
}

/** Returns the key by which a dataset recognizes an ID, in the form of a UUID. */
function hashId(dataset: string, id: string): string {
  const hex = createHash('sha256').update(`${dataset}\0${id}`).digest('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A body of `POST /api/logs/{dataset}`, or of a shipper's protocol. */
export type BodyTask = LogBodyTask | ShipperBodyTask;

/** The work of a thread: to read a body, or the segment file that was written from one. */
export type ReaderTask = BodyTask | ObserveTask;
export type ReaderResult = LogBody | ShipperBody | ObservedField[];

export function readBody(task: ReaderTask): Promise<ReaderResult> {
  if ('known' in task) return observeSegment(task);
  return 'format' in task ? readShipperBody(task) : readLogBody(task);
}
