import { isIP } from 'node:net';
import type { Steps } from '../../../platform/lib/concurrency/slices.ts';
import {
  compileExceptions,
  countRows,
  findValue,
  type ExceptionRule,
  type ExceptionSubject,
  type ListTest,
  type RowCondition,
} from '../../analysis/exceptions.ts';

/** A finding of the past. `isChosen`: the exception is for it. `mustStay`: nothing may hide it. */
export type PastFinding = ExceptionSubject & { isChosen: boolean; mustStay: boolean };

/** An exception that hides all chosen findings and nothing that must stay. `hidden` are all findings of the past that it hides. */
export type Narrowing<F> = { rule: ExceptionRule; hidden: F[]; coverage: string[] };

/** `proofs` are findings that show that the detection works, such as those of a test. An exception may hide some of a proof, but not all. */
type Evaluation = { proofs: readonly (readonly ExceptionSubject[])[]; lists: ReadonlyMap<string, ListTest> };

const partsMax = 10;
const conditionsMax = 3;
const narrowingsMax = 5;
/** Findings that are compared with a condition in one step. */
const stepSize = 50;
const valueLengthMax = 200;

const anything: ExceptionRule = { entity: null, field: null, value: null, list: null, conditions: [] };

/**
 * Returns exceptions for the chosen findings, the narrowest first: the one that hides the fewest other findings of the past, then the one with the
 * most conditions. Each is a conjunction of up to three conditions that all rows of the chosen findings satisfy: the entity, the value of a field, its
 * network, or a value list. Left out are conditions that every other finding satisfies as well, times, and values that identify one event.
 * With no other finding to compare with, only the entity is offered. Each exception is evaluated as a run does it, and returned only if it hides
 * neither a finding that must stay nor a whole proof.
 */
export function* listNarrowings<F extends PastFinding>(
  past: readonly F[],
  { proofs, lists }: Evaluation,
): Steps<Narrowing<F>[]> {
  const chosen = past.filter(({ isChosen }) => isChosen);
  if (chosen.length === 0) return [];
  const parts = yield* listParts(past, lists);
  const forbidden = new Set<ExceptionSubject>(past.filter(({ mustStay }) => mustStay));
  const found = new Map<string, { parts: TestedPart[]; hidden: ReadonlySet<ExceptionSubject> }>();
  for (const chain of combine(parts, conditionsMax)) {
    yield;
    if (new Set(chain.map(({ rule }) => rule.field)).size < chain.length) continue;
    const hidden = chain.map(({ matched }) => matched).reduce((all, one) => all.intersection(one));
    if (!hidden.isDisjointFrom(forbidden)) continue;
    const hides = (finding: ExceptionSubject): boolean => chain.every(({ matches }) => matches(finding));
    if (proofs.some((findings) => findings.every(hides))) continue;
    // Of several that hide the same with as many conditions, the one with the rarest values comes first.
    const key = `${chain.length} ${past.flatMap((one, index) => (hidden.has(one) ? [index] : [])).join(' ')}`;
    if (!found.has(key)) found.set(key, { parts: chain, hidden });
  }
  const rowsOf = ({ hidden }: { hidden: ReadonlySet<ExceptionSubject> }): number =>
    [...hidden].reduce((sum, one) => sum + countRows(one), 0);
  const ordered = [...found.values()].toSorted(
    (a, b) => a.hidden.size - b.hidden.size || rowsOf(a) - rowsOf(b) || b.parts.length - a.parts.length,
  );
  const narrowings: Narrowing<F>[] = [];
  for (const { parts: chain, hidden } of ordered) {
    yield;
    const narrowing = toNarrowing(chain, past, hidden);
    const hides = compileExceptions([narrowing.rule], lists);
    if (!chosen.every(hides) || [...forbidden].some(hides) || proofs.some((proof) => proof.every(hides))) continue;
    if (narrowings.push(narrowing) === narrowingsMax) break;
  }
  return narrowings;
}

const groupsMax = 20;

/** Returns the findings that share the entity or value that most of them and the fewest others have. */
export function chooseSimilar<F extends ExceptionSubject>(
  findings: readonly F[],
  others: readonly ExceptionSubject[],
): F[] {
  const groups = Map.groupBy(
    findings.flatMap((finding) => listSharedParts([finding]).map((part) => ({ part, finding }))),
    ({ part }) => JSON.stringify(part.rule).toLowerCase(),
  );
  const [best] = [...groups.values()]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, groupsMax)
    .map((group) => {
      const find = compileExceptions([group[0]!.part.rule]);
      const share = others.length === 0 ? 0 : others.filter((one) => find(one)).length / others.length;
      return { group, weight: group.length * (1 - share) };
    })
    .toSorted((a, b) => b.weight - a.weight);
  return best ? best.group.map(({ finding }) => finding) : [...findings];
}

/** A condition of an exception. `other` says what is still raised under it. */
type Part = {
  rule: ExceptionRule;
  other: string;
  /** A value that the condition is for, to recognize two fields that say the same. Undefined if there are several. */
  value: string | undefined;
  valueOf: (finding: ExceptionSubject) => string | undefined;
};
/** `matched` are the findings of the past that satisfy the condition. */
type TestedPart = Part & {
  matches: (finding: ExceptionSubject) => boolean;
  matched: ReadonlySet<ExceptionSubject>;
};

/** Returns the conditions that tell the chosen findings from others, the rarest first. */
function* listParts(past: readonly PastFinding[], lists: ReadonlyMap<string, ListTest>): Steps<TestedPart[]> {
  const chosen = past.filter(({ isChosen }) => isChosen);
  const others = past.length - chosen.length;
  const ids = yield* findIdFields(past);
  const tested: TestedPart[] = [];
  for (const part of listSharedParts(chosen, lists)) {
    const find = compileExceptions([part.rule], lists);
    const matches = (finding: ExceptionSubject): boolean => find(finding) !== undefined;
    const matched = new Set<ExceptionSubject>();
    for (const [index, finding] of past.entries()) {
      if (matches(finding)) matched.add(finding);
      if (index % stepSize === 0) yield;
    }
    if (!chosen.every((finding) => matched.has(finding))) continue;
    const { rule, value } = part;
    const matchedOthers = matched.size - chosen.length;
    if (others === 0 ? rule.entity === null : matchedOthers === others) continue;
    const isSeenAgain = chosen.length > 1 || matchedOthers > 0;
    const isUnique = value !== undefined && !isSeenAgain && (isEventId(value) || ids.has(rule.field!));
    const isMeasured = chosen.every(({ facts }) => String(facts['count']) === value);
    if (rule.entity === null && (isUnique || isMeasured)) continue;
    tested.push({ ...part, matches, matched });
  }
  tested.sort((a, b) => a.matched.size - b.matched.size);
  return tested
    .filter((part, index) => !tested.slice(0, index).some((earlier) => saysTheSame(earlier, part)))
    .slice(0, partsMax);
}

/** Returns whether two conditions match the same findings because one value contains the other, such as a name and an address of a user. */
function saysTheSame(a: TestedPart, b: TestedPart): boolean {
  const [one, two] = [a.value?.toLowerCase(), b.value?.toLowerCase()];
  if (one === undefined || two === undefined || !(one.includes(two) || two.includes(one))) return false;
  return a.matched.size === b.matched.size && a.matched.isSubsetOf(b.matched);
}

/** Returns the conditions that all rows of all findings satisfy: their entity, and for each field its value, its network and the lists that have it. */
function listSharedParts(
  findings: readonly ExceptionSubject[],
  lists: ReadonlyMap<string, ListTest> = new Map(),
): Part[] {
  const [first] = findings;
  const { entity } = first!;
  const isSame = findings.every((one) => normalize(one.entity) === normalize(entity));
  const rows = findings.flatMap((finding) => finding.rows);
  const fields = Object.keys(first!.rows[0]?.fields ?? {}).filter((field) => !field.startsWith('_'));
  return [
    ...(isSame && isUsable(entity)
      ? [
          {
            rule: { ...anything, entity },
            other: 'Other entities are still raised',
            value: entity,
            valueOf: (one: ExceptionSubject) => one.entity,
          },
        ]
      : []),
    ...fields.flatMap((field) => {
      const texts = rows.map((row) => findValue(row.fields, field));
      if (!texts.every((text) => text !== undefined && isUsable(text) && !isTime(text))) return [];
      return listFieldParts(field, texts as string[], lists);
    }),
  ];
}

function listFieldParts(field: string, texts: readonly string[], lists: ReadonlyMap<string, ListTest>): Part[] {
  const valueOf = (finding: ExceptionSubject): string | undefined =>
    finding.rows[0] && findValue(finding.rows[0].fields, field);
  const [first] = texts;
  if (texts.every((text) => normalize(text) === normalize(first!)))
    return [
      {
        rule: { ...anything, field, value: first! },
        other: `Findings with another ${field} are still raised`,
        value: first!,
        valueOf,
      },
    ];
  const network = findNetwork(texts);
  const listed = [...lists].filter(([, isListed]) => texts.every(isListed)).map(([list]) => list);
  return [
    ...(network === undefined ? [] : [{ value: network, other: network }]),
    ...listed.map((list) => ({ list, other: `the list ${list}` })),
  ].map(({ other, ...place }) => ({
    rule: { ...anything, field, ...place },
    other: `Findings with a ${field} outside of ${other} are still raised`,
    value: undefined,
    valueOf,
  }));
}

const normalize = (text: string): string => text.trim().toLowerCase();
/** `*` would stand for any text in an exception. */
const isUsable = (text: string): boolean => text.trim() !== '' && text.length <= valueLengthMax && !text.includes('*');
/** ISO 8601, or a number of seconds to nanoseconds since 1970 within this century. */
const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) || /^[1-4]\d{9}(\.\d+|(\d{3}){1,3})?$/.test(text);
/** A UUID, a long number in base 16, or a number that measures something. */
const isEventId = (text: string): boolean =>
  /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$|^(0x)?[0-9a-f]{16,}$|^-?\d+(\.\d+)?$/i.test(text.trim());

const idRowsMin = 10;

/** Returns the fields that have another value in every row of the past, addresses and entities aside. */
function* findIdFields(past: readonly PastFinding[]): Steps<Set<string>> {
  const values = new Map<string, Set<string>>();
  const repeated = new Set<string>();
  for (const { rows, entity } of past) {
    yield;
    for (const { fields } of rows)
      for (const [field, text] of Object.entries(fields)) {
        if (repeated.has(field) || isIP(text) !== 0 || normalize(text) === normalize(entity)) continue;
        const seen = values.get(field) ?? new Set();
        if (seen.has(text)) repeated.add(field);
        else values.set(field, seen.add(text));
      }
  }
  return new Set(
    [...values].flatMap(([field, { size }]) => (size >= idRowsMin && !repeated.has(field) ? [field] : [])),
  );
}

/** Returns the /24 (or /64 of IPv6) that contains all addresses, or undefined. */
function findNetwork(texts: readonly string[]): string | undefined {
  const versions = new Set(texts.map((text) => isIP(text.trim())));
  // An IPv4 address within IPv6 shares its first half with all others.
  const isMapped = versions.has(6) && texts.some((text) => text.includes('.'));
  if (versions.size !== 1 || versions.has(0) || isMapped) return undefined;
  const networks = new Set(texts.map((text) => (versions.has(4) ? toNetwork4(text.trim()) : toNetwork6(text.trim()))));
  const [network] = networks;
  return networks.size === 1 ? network : undefined;
}

const toNetwork4 = (address: string): string => `${address.split('.').slice(0, 3).join('.')}.0/24`;

function toNetwork6(address: string): string {
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const all = [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'), ...right];
  return `${all
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(':')}::/64`;
}

/** Yields the combinations of up to `max` parts, in the order of the parts. */
function* combine<T>(parts: readonly T[], max: number): Generator<T[]> {
  for (const [index, part] of parts.entries()) {
    yield [part];
    if (max > 1) for (const rest of combine(parts.slice(index + 1), max - 1)) yield [part, ...rest];
  }
}

function toNarrowing<F extends PastFinding>(
  parts: readonly TestedPart[],
  past: readonly F[],
  hidden: ReadonlySet<ExceptionSubject>,
): Narrowing<F> {
  const entity = parts.find((part) => part.rule.entity !== null)?.rule.entity ?? null;
  const [first, ...further] = parts.filter((part) => part.rule.field !== null).map(({ rule }) => rule);
  const toCondition = ({ field, value, list }: ExceptionRule): RowCondition => ({
    field: field!,
    ...(value !== null && { value }),
    ...(list !== null && { list }),
  });
  const rule = { ...anything, ...first, entity, conditions: further.map(toCondition) };
  const coverage = parts.map((part) => describeRest(part, past));
  if (first) coverage.push('A finding with any row that differs is still raised as a whole.');
  return { rule, hidden: past.filter((finding) => hidden.has(finding)), coverage };
}

const examplesMax = 3;
const exampleLengthMax = 60;

/** Describes what a condition leaves, with the number and examples of findings of the past that do not satisfy it. */
function describeRest({ other, valueOf, matched }: TestedPart, past: readonly PastFinding[]): string {
  const rest = past.filter((finding) => !matched.has(finding));
  const examples = [...new Set(rest.flatMap((finding) => valueOf(finding)?.slice(0, exampleLengthMax) ?? []))].slice(
    0,
    examplesMax,
  );
  const such = examples.length === 0 ? '' : `, such as ${examples.join(', ')}`;
  return `${other}: ${rest.length} of the ${past.length} findings of the past${such}.`;
}
