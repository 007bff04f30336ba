import { hash } from 'node:crypto';
import fieldEndings from './connection-fields.json' with { type: 'json' };
import { plainFieldName } from '../../platform/lib/text/canonical-text.ts';
import type { RenderedRow } from '../analysis/candidate.ts';
import { inferEntityType } from '../analysis/rows/entity-fields.ts';
import type { EntityKey } from '../entities/entity-names.ts';
import { isAbsent, parseList } from '../analysis/rows/fields.ts';
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

/** Returns whether a field's name ends like those of a kind. `descriptive` fields describe a user or host instead of naming one. */
const isField = (kind: keyof typeof fieldEndings, name: string): boolean =>
  fieldEndings[kind].some((ending) => name.endsWith(ending));

/** Returns the kind and type of a field's value, or undefined if it connects nothing, such as the truth value of `managed_device`. */
function classify(field: string, value: string): { kind: ConnectionKind; type: string } | undefined {
  if (/^(?:true|false)$/i.test(value)) return undefined;
  const path = field.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  if (isField('session', path)) return { kind: 'session', type: 'session' };
  if (isField('process', path)) return { kind: 'process', type: 'process' };
  const type = inferEntityType(field, value);
  // A DNS name is a domain, whatever its field is called. A Windows domain, which names accounts, is not.
  if (type === 'domain') return value.includes('.') ? { kind: 'indicator', type } : undefined;
  if (isField('descriptive', plainFieldName(field))) return undefined;
  const kind = kindOfType[type];
  return kind && { kind, type };
}

/** Returns the key of a name in `hit_connections`. A UUID, because row-level security lets only leakproof operators use an index. */
export const toConnectionKey = (name: string): string =>
  hash('md5', name).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

type HitContent = { entity: string; entityType: string; rows: readonly RenderedRow[] };
/** A value with the machine that it is on, if the row shows one, because local accounts of different machines have the same names. */
type Part = { kind: ConnectionKind; type: string; value: string; host: string | undefined; cell: Cell };

/** Returns the entity that a raw value names. One that is shared by different things connects nothing. */
export type NameOf = (
  raw: Pick<Part, 'type' | 'value' | 'host'>,
) => Pick<EntityKey, 'key' | 'type' | 'name' | 'isShared'>;

/** Lists the values of a hit that may connect it, in every cell that shows them. The first is its entity. */
export function listParts({ entity, entityType: type, rows }: HitContent): [Part, ...Part[]] {
  const own = { kind: kindOfType[type] ?? ('entity' as const), type };
  const isOwn = (value: string): boolean => value.trim().toLowerCase() === entity.trim().toLowerCase();
  const cells = rows.flatMap(({ rowId, fields }) => {
    const parts = Object.entries(fields).flatMap(([field, text]) =>
      (isOwn(text) ? [text.trim()] : listValues(field, text)).flatMap((value) => {
        const part = isOwn(value) ? own : classify(field, value);
        return part ? [{ ...part, value, cell: { rowId, field } }] : [];
      }),
    );
    const host = findOnly(parts.filter((part) => part.type === 'host').map(({ value }) => value));
    return parts.map((part) => ({ ...part, host }));
  });
  const host = findOnly(cells.map((part) => part.host));
  return [{ ...own, value: entity.trim(), host, cell: { rowId: null, field: null } }, ...cells];
}

/** Returns the value that all have, or undefined if they differ. */
function findOnly(values: readonly (string | undefined)[]): string | undefined {
  const [first] = values;
  return values.every((value) => value?.toLowerCase() === first?.toLowerCase()) ? first : undefined;
}

const listedMax = 50;
const isNamedByForm = (value: string): boolean => inferEntityType('', value) !== 'entity';

/** Returns the values of a cell, which may be a list. Names of people can have commas, so only the form of a value makes it one of a list of users. */
function listValues(field: string, text: string): string[] {
  const list = parseList(text).filter((item) => typeof item === 'string');
  // A text that was cut ends in the middle of a value.
  const values = (list.length > 0 ? list : text.split(/,\s+/))
    .map((value) => value.trim())
    .filter((value) => !value.endsWith('…'));
  if (list.length === 0 && values.length === 1) return [text.trim()];
  return values.filter((value) => inferEntityType(field, value) !== 'user' || isNamedByForm(value)).slice(0, listedMax);
}

/** Returns the key of the entity of a hit. */
export const toEntityKey = (hit: HitContent, nameOf: NameOf): string => toConnectionKey(nameOf(listParts(hit)[0]).key);

/** Returns the values by which a hit can join others: its entity, and what its rows show in any role. */
export function extractConnections(hit: HitContent, nameOf: NameOf): Connection[] {
  const found = new Map<string, Connection>();
  for (const { kind, type: rawType, value: rawValue, host, cell } of listParts(hit)) {
    if (rawValue.length < 2 || isAbsent(rawValue)) continue;
    const isNamed = kind === 'entity' || kind === 'indicator';
    const named = isNamed ? nameOf({ type: rawType, value: rawValue, host }) : undefined;
    if (named?.isShared) continue;
    const key = toConnectionKey(named?.key ?? `${kind}:${rawValue.toLowerCase()}`);
    const known = found.get(key);
    if (known) known.cells.push(cell);
    else found.set(key, { key, kind, type: named?.type ?? rawType, value: named?.name ?? rawValue, cells: [cell] });
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
