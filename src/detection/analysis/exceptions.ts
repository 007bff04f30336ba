import { BlockList, isIP } from 'node:net';
import type { Candidate } from './candidate.ts';

/** A condition on a field of every row: it has the value, or one that is in the value list. */
export type RowCondition = { field: string; value?: string | undefined; list?: string | undefined };

/** A rule that mutes candidates. Null matches anything. `field` is set with either `value` or `list`. */
export type Exception = {
  id: string;
  kind: 'exception' | 'snooze';
  entity: string | null;
  field: string | null;
  value: string | null;
  /** The value list that the value of the field is in, or without a field the entity. */
  list: string | null;
  /** Conditions beside that of `field`. All of them must hold. */
  conditions: readonly RowCondition[];
};
/** What an exception mutes. */
export type ExceptionRule = Omit<Exception, 'id' | 'kind'>;

/** Returns whether a text is in a value list. */
export type ListTest = (text: string) => boolean;

type ExceptionTest<E> = { exception: E; matches: (candidate: ExceptionSubject) => boolean };

/** The part of a candidate that exceptions look at. */
export type ExceptionSubject = Pick<Candidate, 'entity' | 'rows' | 'facts'>;

/**
 * Returns a function that finds the first exception that matches a candidate's entity and, if it has fields, all rows behind the
 * candidate. An exception with a list matches texts that are in it, as `lists` say. Entities, field names and values match without regard to case, `*` stands for any text, and a value that is a network contains its addresses. A candidate with another row, or
 * with rows beyond those shown, does not match, so that an exception never hides other activity.
 */
export function compileExceptions<E extends ExceptionRule>(
  exceptions: readonly E[],
  lists: ReadonlyMap<string, ListTest> = new Map(),
): (candidate: ExceptionSubject) => E | undefined {
  const tests = exceptions.map((exception) => compileException(exception, lists));
  return (candidate) => tests.find(({ matches }) => matches(candidate))?.exception;
}

function compileException<E extends ExceptionRule>(
  exception: E,
  lists: ReadonlyMap<string, ListTest>,
): ExceptionTest<E> {
  const { field, list } = exception;
  const getList = (name: string): ListTest => lists.get(name) ?? (() => false);
  const isEntity = exception.entity === null ? () => true : compilePattern(exception.entity);
  const isListed = field === null && list !== null ? getList(list) : () => true;
  const rowTests = listConditions(exception).map((condition) => {
    const matchesValue = condition.list === undefined ? compileValue(condition.value ?? '') : getList(condition.list);
    return ({ fields }: Candidate['rows'][number]): boolean => {
      const text = findValue(fields, condition.field);
      return text !== undefined && matchesValue(text);
    };
  });
  return {
    exception,
    matches: (candidate) =>
      isEntity(candidate.entity) &&
      isListed(candidate.entity) &&
      (rowTests.length === 0 ||
        (hasAllRows(candidate) && candidate.rows.every((row) => rowTests.every((matches) => matches(row))))),
  };
}

/** Returns all conditions of an exception on rows, that of `field` first. */
export function listConditions({ field, value, list, conditions }: ExceptionRule): RowCondition[] {
  return field === null
    ? [...conditions]
    : [{ field, value: value ?? undefined, list: list ?? undefined }, ...conditions];
}

/** Returns the names of the value lists that an exception refers to. */
export const namesOfLists = ({ list, conditions }: Pick<ExceptionRule, 'list' | 'conditions'>): string[] =>
  [list, ...conditions.map((condition) => condition.list)].flatMap((name) => name ?? []);

/** Compiles the value of a condition: a text, a pattern, or a network that contains addresses. */
function compileValue(value: string): (text: string) => boolean {
  const equals = compilePattern(value);
  if (!parseNetwork(value)) return equals;
  const contains = compileAllowList([value]);
  return (text) => equals(text) || contains(text);
}

/** Returns whether the rows are all of those behind a candidate. */
export const hasAllRows = (candidate: ExceptionSubject): boolean =>
  candidate.rows.length > 0 && countRows(candidate) <= candidate.rows.length;

/** Returns the number of rows behind a candidate, of which not all may be shown. */
export function countRows({ rows, facts }: Pick<ExceptionSubject, 'rows' | 'facts'>): number {
  const rowCount = facts['candidateRows'];
  return typeof rowCount === 'number' ? rowCount : rows.length;
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
