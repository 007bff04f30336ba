import type { ShipperReceipt } from '../receive-shipper-body.ts';
import type { BulkItems, BulkOperation } from '../formats/bulk-decoder.ts';

type ItemResult = {
  _index: string;
  _id: string;
  status: number;
  result?: string;
  error?: { type: string; reason: string };
};

const itemsPerSlice = 500;
const noItems: BulkItems = { operations: [], indexes: [], ids: [] };

/**
 * Renders the response of `_bulk` in slices: one result per item, in order. An ID that was stored before is a conflict (409) for `create`,
 * which shippers count as delivered, and a success without effect for `index`. An event beyond a quota is a 429. `filterPath` selects fields as in Elasticsearch.
 */
export function* renderBulkResponse(
  receipt: ShipperReceipt,
  { tookMs, filterPath }: { tookMs: number; filterPath: string | undefined },
): Generator<string> {
  const items = (receipt.items as BulkItems | undefined) ?? noItems;
  const reasons = new Map(receipt.rejected.map(({ item, reason }) => [item, reason]));
  const results = items.operations.map((operation, index) => ({
    operation,
    result: resultOf(receipt, reasons, { items, operation, index }),
  }));
  const hasErrors = results.some(({ result }) => result.error !== undefined);
  const filter = parseFilterPath(filterPath);
  const head = { took: tookMs, errors: hasErrors };
  const kept = Object.entries(head).filter(([name]) => filter.hasField(name));
  if (!filter.hasItems) {
    yield JSON.stringify(Object.fromEntries(kept));
    return;
  }
  yield `{${kept.map(([name, value]) => `"${name}":${value},`).join('')}"items":[`;
  let isFirst = true;
  for (let at = 0; at < results.length; at += itemsPerSlice) {
    const texts = results.slice(at, at + itemsPerSlice).flatMap(({ operation, result }) => {
      const fields = Object.entries(result).filter(([name]) => filter.hasItemField(name));
      return fields.length === 0 ? [] : [JSON.stringify({ [operation]: Object.fromEntries(fields) })];
    });
    if (texts.length === 0) continue;
    yield (isFirst ? '' : ',') + texts.join(',');
    isFirst = false;
  }
  yield ']}';
}

function resultOf(
  { batches, batchOfItem, repeated }: ShipperReceipt,
  reasons: ReadonlyMap<number, string>,
  { items, operation, index }: { items: BulkItems; operation: BulkOperation; index: number },
): ItemResult {
  const item = index + 1;
  const batch = batches[batchOfItem[index]!];
  const names = { _index: items.indexes[index]!, _id: items.ids[index] ?? `${batch?.id ?? ''}:${item}` };
  const rejection = reasons.get(item);
  const failed = rejection === undefined ? batch?.failed : undefined;
  // Shippers send only the events with this status again.
  if (failed?.status === 429)
    return { ...names, status: 429, error: { type: 'es_rejected_execution_exception', reason: failed.message } };
  const reason = rejection ?? failed?.message;
  if (reason !== undefined) return { ...names, status: 400, error: { type: 'document_parsing_exception', reason } };
  if (!repeated.has(item)) return { ...names, status: 201, result: 'created' };
  if (operation !== 'create') return { ...names, status: 200, result: 'noop' };
  const type = 'version_conflict_engine_exception';
  return { ...names, status: 409, error: { type, reason: `[${names._id}]: an event with this _id is already stored` } };
}

type ResponseFilter = {
  hasField: (name: string) => boolean;
  hasItems: boolean;
  hasItemField: (name: string) => boolean;
};

const everything: ResponseFilter = { hasField: () => true, hasItems: true, hasItemField: () => true };

/** Parses `errors,items.*.error,items.*.status`. Any other form of a pattern selects everything. */
function parseFilterPath(filterPath: string | undefined): ResponseFilter {
  const paths = (filterPath ?? '').split(',').filter((path) => path !== '');
  if (paths.length === 0 || !paths.every((path) => /^(?:took|errors|items|items\.\*\.\w+)$/.test(path)))
    return everything;
  const itemFields = paths.filter((path) => path.startsWith('items.')).map((path) => path.split('.')[2]!);
  const hasAllItemFields = paths.includes('items');
  return {
    hasField: (name) => paths.includes(name),
    hasItems: hasAllItemFields || itemFields.length > 0,
    hasItemField: (name) => hasAllItemFields || itemFields.includes(name),
  };
}
