import { hash } from 'node:crypto';
import { plainFieldName } from '../../platform/lib/text/canonical-text.ts';
import type { RenderedRow } from '../analysis/candidate.ts';
import { inferEntityType } from '../analysis/rows/entity-fields.ts';
import { isAbsent } from '../analysis/rows/fields.ts';
import type { SeenSpan } from './join-hits.ts';

export const connectionKinds = ['entity', 'indicator', 'session', 'process'] as const;
type ConnectionKind = (typeof connectionKinds)[number];

/** A field of a row. `field` is null for the entity of the hit itself. */
export type Cell = { rowId: string | null; field: string | null };

/** A value of a hit by which it can join others, with the cells that show it. */
export type Connection = { key: string; kind: ConnectionKind; type: string; value: string; cells: Cell[] };

/** Types of values that identify one thing. A country, a service or the name of a program is shared by many. */
const kindOfType: Record<string, ConnectionKind> = {
  user: 'entity',
  role: 'entity',
  access_key: 'entity',
  host: 'entity',
  ip: 'entity',
  bucket: 'entity',
  domain: 'indicator',
  url: 'indicator',
  hash: 'indicator',
};

/** Types by which a value is looked up if its type is unknown. */
export const entityTypes: readonly string[] = [...Object.keys(kindOfType), 'account', 'entity', 'session', 'process'];

const sessionField = /session(?:id|uid|key|token)?$|logonid$|logonguid$/;
const processField = /process(?:guid|entityid|uid)$|parentprocessguid$/;
/** Fields that describe a user or host instead of naming one. */
const descriptiveField = /(?:agent|type|domain|group|groups|status|name_?space|version|count|os|platform)$/;

/** Accounts and addresses that every computer has, so that they identify nobody. */
const everywhere = new Set(
  'root system administrator admin guest nobody anonymous localhost :: ::1 0.0.0.0'
    .split(' ')
    .concat(['local service', 'network service', 'anonymous logon', 'nt authority\\system']),
);

/** Returns the kind and type of a field's value, or undefined if it connects nothing. */
function classify(field: string, value: string): { kind: ConnectionKind; type: string } | undefined {
  const name = plainFieldName(field);
  const path = field.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  if (sessionField.test(path)) return { kind: 'session', type: 'session' };
  if (processField.test(path)) return { kind: 'process', type: 'process' };
  const type = inferEntityType(field, value);
  // A DNS name is a domain whatever its field is called, and a domain of accounts is none.
  if (type === 'domain') return value.includes('.') ? { kind: 'indicator', type } : undefined;
  if (descriptiveField.test(name)) return undefined;
  const kind = kindOfType[type];
  return kind && { kind, type };
}

const isSpecificText = (value: string): boolean => {
  const text = value.trim().toLowerCase();
  return text.length > 1 && !isAbsent(text) && !everywhere.has(text) && !text.startsWith('127.');
};

/** Returns the key under which equal values of a type are found. A UUID, because row-level security lets only leakproof operators use an index. */
export const toConnectionKey = (type: string, value: string): string => {
  const digest = hash('md5', `${type}\n${value.trim().toLowerCase()}`);
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** Returns the values by which a hit can join others: its entity, and what its rows show in any role. */
export function extractConnections(hit: {
  entity: string;
  entityType: string;
  rows: readonly RenderedRow[];
}): Connection[] {
  const found = new Map<string, Connection>();
  const add = (part: { kind: ConnectionKind; type: string } | undefined, value: string, cell: Cell): void => {
    if (!part || !isSpecificText(value)) return;
    const key = toConnectionKey(part.type, value);
    const known = found.get(key);
    if (known) known.cells.push(cell);
    else found.set(key, { key, ...part, value: value.trim(), cells: [cell] });
  };
  const { entity, entityType: type } = hit;
  add({ kind: kindOfType[type] ?? 'entity', type }, entity, { rowId: null, field: null });
  for (const { rowId, fields } of hit.rows)
    for (const [field, value] of Object.entries(fields)) {
      const isEntity = value.trim().toLowerCase() === entity.trim().toLowerCase();
      const part = isEntity ? { kind: kindOfType[type] ?? ('entity' as const), type } : classify(field, value);
      add(part, value, { rowId, field });
    }
  return [...found.values()];
}

/** Returns when a hit was seen: in the time of its rows, else its window, and where it was seen last. */
export function listSeenSpans(hit: {
  rows: readonly RenderedRow[];
  windowFrom: Date;
  windowTo: Date;
  lastSeenAt: Date;
}): [SeenSpan, ...SeenSpan[]] {
  const times = hit.rows.flatMap(({ time }) => {
    const at = time === null ? Number.NaN : Date.parse(time);
    return Number.isNaN(at) ? [] : [at];
  });
  const first =
    times.length > 0
      ? { from: Math.min(...times), to: Math.max(...times) }
      : { from: hit.windowFrom.getTime(), to: hit.windowTo.getTime() };
  const last = hit.lastSeenAt.getTime();
  return last > hit.windowTo.getTime() ? [first, { from: last, to: last }] : [first];
}
