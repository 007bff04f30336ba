import { appError } from '../../../platform/lib/errors.ts';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import { parseEvent } from '../../log-ingest/events/parse-event.ts';
import { createEventSplitter, type RawEvent } from '../../log-ingest/body/split-events.ts';
import { datasetOfIndex, findEcsDataset, type BodyDecoder, type DecodedEvent } from './body-decoder.ts';

/** The items of a bulk request in order: operation, index, and the document's ID if the request has one. */
export type BulkItems = { operations: BulkOperation[]; indexes: string[]; ids: (string | null)[] };
export type BulkOperation = 'index' | 'create' | 'update' | 'delete';

type Action = { operation: BulkOperation; index: string; id: string | null };

const operations: readonly string[] = ['index', 'create', 'update', 'delete'];
// No control character can be in the field of a segment file.
const unusableId = /[^\u0020-\uffff]/;
const idBytesMax = 512;

/**
 * Decodes the body of a `_bulk` request: lines in pairs of an action and a document. Only `index` and `create` store something. Throws
 * malformed_json with the line of an invalid action, as Elasticsearch rejects such a request as a whole.
 */
export function createBulkDecoder(defaultIndex: string | undefined): BodyDecoder {
  const splitter = createEventSplitter({ isText: true });
  const items: BulkItems = { operations: [], indexes: [], ids: [] };
  let action: Action | undefined;
  const addItem = ({ operation, index, id }: Action): number => {
    items.indexes.push(index);
    items.ids.push(id);
    return items.operations.push(operation);
  };
  function* decode(lines: RawEvent[]): Generator<DecodedEvent> {
    for (const raw of lines) {
      if (action) {
        const item = addItem(action);
        yield { item, ...readDocument(raw, action) };
        action = undefined;
        continue;
      }
      const next = readAction(raw, defaultIndex);
      // A deletion has no document.
      if (next.operation === 'delete') yield { item: addItem(next), dataset: '', event: 'delete is not supported' };
      else action = next;
    }
  }
  return {
    push: (slice) => decode(splitter.push(slice)),
    *end() {
      yield* decode(splitter.end());
      if (action) throw malformed('The last action has no document, or the body does not end with a newline.');
    },
    describeItems: () => items,
  };
}

const malformed = (detail: string): Error => appError('malformed_json', detail);

function readAction({ line, bytes, tooLarge }: RawEvent, defaultIndex: string | undefined): Action {
  let value: unknown;
  try {
    value = tooLarge ? undefined : JSON.parse(bytes.toString());
  } catch {
    value = undefined;
  }
  const [entry, ...more] = isObject(value) ? Object.entries(value) : [];
  const [operation, options] = entry ?? [];
  if (operation === undefined || more.length > 0 || !operations.includes(operation) || !isObject(options))
    throw malformed(
      `Malformed action/metadata line [${line}]: expected an object with index, create, update or delete.`,
    );
  const { _index: index = defaultIndex ?? '', _id: id } = options;
  if (typeof index !== 'string') throw malformed(`Malformed action/metadata line [${line}]: _index is not a string.`);
  const isId = typeof id === 'string' || typeof id === 'number';
  return { operation: operation as BulkOperation, index, id: isId && id !== '' ? String(id) : null };
}

function readDocument(raw: RawEvent, { operation, index, id }: Action): Omit<DecodedEvent, 'item'> {
  const reject = (reason: string): Omit<DecodedEvent, 'item'> => ({ dataset: '', event: reason });
  if (operation === 'update') return reject('update is not supported');
  if (index === '') return reject('_index is missing in the action and in the path');
  if (id !== null && (unusableId.test(id) || Buffer.byteLength(id) > idBytesMax))
    return reject(`_id has a control character or is longer than ${idBytesMax} bytes`);
  const event = raw.tooLarge ? 'the document is too large' : parseEvent(raw.bytes, undefined);
  if (typeof event === 'string') return reject(event);
  const dataset = findEcsDataset(event.value) ?? datasetOfIndex(index);
  return id === null ? { dataset, event } : { dataset, event: { ...event, id }, explicitId: id };
}
