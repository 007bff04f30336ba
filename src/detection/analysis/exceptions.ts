import { BlockList, isIP } from 'node:net';
import type { Candidate } from './candidate.ts';

/** A rule that mutes candidates. Null matches anything. `field` and `value` are set together. */
export type Exception = {
  id: string;
  kind: 'exception' | 'snooze';
  entity: string | null;
  field: string | null;
  value: string | null;
  /** The value list that the value of the field is in, or without a field the entity. */
  list: string | null;
};

/** Returns whether a text is in a value list. */
export type ListTest = (text: string) => boolean;

type ExceptionTest<E> = { exception: E; matches: (candidate: ExceptionSubject) => boolean };

/** The part of a candidate that exceptions look at. */
export type ExceptionSubject = Pick<Candidate, 'entity' | 'rows' | 'facts'>;

/**
 * Returns a function that finds the first exception that matches a candidate's entity and, if it has a field, all rows behind the
 * candidate. An exception with a list matches texts that are in it, as `lists` say. Entities, field names and values match without regard to case, and `*` stands for any text. A candidate with another row, or
 * with rows beyond those shown, does not match, so that an exception never hides other activity.
 */
export function compileExceptions<E extends Omit<Exception, 'id' | 'kind'>>(
  exceptions: readonly E[],
  lists: ReadonlyMap<string, ListTest> = new Map(),
): (candidate: ExceptionSubject) => E | undefined {
  const tests = exceptions.map((exception) => compileException(exception, lists));
  return (candidate) => tests.find(({ matches }) => matches(candidate))?.exception;
}

function compileException<E extends Omit<Exception, 'id' | 'kind'>>(
  exception: E,
  lists: ReadonlyMap<string, ListTest>,
): ExceptionTest<E> {
  const { field, value, list } = exception;
  const isListed = list === null ? undefined : (lists.get(list) ?? (() => false));
  const isEntity = exception.entity === null ? () => true : compilePattern(exception.entity);
  const matchesEntity = (entity: string): boolean =>
    isEntity(entity) && (field !== null || isListed === undefined || isListed(entity));
  const matchesValue = isListed ?? compilePattern(value ?? '');
  const matchesRow = ({ fields }: Candidate['rows'][number]): boolean => {
    const text = field === null ? undefined : findValue(fields, field);
    return text !== undefined && matchesValue(text);
  };
  return {
    exception,
    matches: (candidate) =>
      matchesEntity(candidate.entity) &&
      (field === null || (hasAllRows(candidate) && candidate.rows.every((row) => matchesRow(row)))),
  };
}

/** Returns whether the rows are all of those behind a candidate. */
export function hasAllRows({ rows, facts }: ExceptionSubject): boolean {
  const rowCount = facts['candidateRows'];
  return rows.length > 0 && (typeof rowCount !== 'number' || rowCount <= rows.length);
}

/** Returns the value of a field whose name is equal, else of one whose name differs only in case. */
export function findValue(fields: Record<string, string>, field: string): string | undefined {
  if (Object.hasOwn(fields, field)) return fields[field];
  const lower = field.toLowerCase();
  return Object.entries(fields).find(([name]) => name.toLowerCase() === lower)?.[1];
}

/**
 * Returns a function that reports whether an entity is in a list. A value of the list is an exact text, a pattern in which `*` stands for any
 * text, or a network such as `10.0.0.0/8`, which contains addresses only. Case and surrounding whitespace do not matter.
 */
export function compileAllowList(values: readonly string[]): (entity: string) => boolean {
  const exact = new Set<string>();
  const patterns: ((text: string) => boolean)[] = [];
  const networks = new BlockList();
  let hasNetworks = false;
  for (const value of values) {
    const network = parseNetwork(value);
    if (network) {
      networks.addSubnet(network.address, network.bits, network.family);
      hasNetworks = true;
    } else if (value.includes('*')) patterns.push(compilePattern(value));
    else exact.add(normalizeEntity(value));
  }
  return (entity) => {
    const text = normalizeEntity(entity);
    if (exact.has(text) || patterns.some((matches) => matches(text))) return true;
    const version = hasNetworks ? isIP(text) : 0;
    return version !== 0 && networks.check(text, version === 4 ? 'ipv4' : 'ipv6');
  };
}

type Network = { address: string; bits: number; family: 'ipv4' | 'ipv6' };

/** Returns undefined for a text that is no network. */
function parseNetwork(value: string): Network | undefined {
  const [, address, digits] = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(value.trim()) ?? [];
  if (address === undefined) return undefined;
  const version = isIP(address);
  const bits = Number(digits);
  if (version === 0 || bits > (version === 4 ? 32 : 128)) return undefined;
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

const normalizeEntity = (text: string): string => text.trim().toLowerCase();

/**
 * Compiles a pattern in which `*` stands for any text, including the empty one. Case and surrounding whitespace do not matter. Takes linear time for each
 * `*`, whatever the text.
 */
export function compilePattern(pattern: string): (text: string) => boolean {
  const parts = normalize(pattern).split('*');
  const [first = ''] = parts;
  if (parts.length === 1) return (text) => normalize(text) === first;
  const last = parts.at(-1)!;
  const inner = parts.slice(1, -1).filter((part) => part !== '');
  return (text) => {
    const lower = normalize(text);
    const end = lower.length - last.length;
    if (!lower.startsWith(first) || !lower.endsWith(last) || end < first.length) return false;
    let position = first.length;
    for (const part of inner) {
      const found = lower.indexOf(part, position);
      if (found < 0 || found + part.length > end) return false;
      position = found + part.length;
    }
    return true;
  };
}

const normalize = (text: string): string => text.trim().toLowerCase();
