import { ttlDays } from '../model/expiry.ts';
import type { Iocs } from '../model/item.schema.ts';
import { toComparisonKey } from '../model/values/normalize.ts';
import { roundConfidence, emptyIocs } from '../model/source-record.ts';
import { isHarmlessRole } from '../model/vocabulary.ts';
import { findBenignReason, type BenignLookup } from './indicators/assessment/benign-values.ts';
import type { ClassificationMapping } from './classification-builder.ts';
import { toMappingId, type IndicatorObservable, type Observable } from './observable.ts';
import { indicatorTypes } from '../model/values/indicator-types.ts';

/** One statement of a source about a value. Times are ISO text. */
export type IndicatorStatement = {
  revoked?: boolean;
  falsePositive?: boolean;
  /** The role that prose gives the value. It applies in its own item only. */
  role?: string | undefined;
  confidence: number;
  firstSeen?: string | undefined;
  lastSeen?: string | undefined;
  until?: string | undefined;
  phishing?: boolean;
};

const mappingMaxChars = 1_000;

/**
 * Collects the indicators of an item. Statements about the same value become one indicator with the highest confidence and the widest
 * time range, revoked only if every statement is revoked. A harmless value is a false positive, whatever its source says. `benign` is the
 * lookup of the installed lists. Values without an indicator type become mappings.
 */
export function createStatementCollector(benign?: BenignLookup): {
  state: (observable: Observable, statement: IndicatorStatement) => void;
  iocs: (publishTime: string | undefined) => Iocs;
  mappings: ClassificationMapping[];
} {
  const found = new Map<string, { observable: IndicatorObservable; statements: IndicatorStatement[] }>();
  const mappings: ClassificationMapping[] = [];
  return {
    mappings,
    state(observable, statement) {
      if (observable.kind === 'other') {
        const id = toMappingId(observable).slice(0, mappingMaxChars).toWellFormed();
        mappings.push({ framework: observable.framework, id, confidence: roundConfidence(statement.confidence) });
        return;
      }
      const key = toComparisonKey(observable);
      const known = found.get(key);
      if (known) known.statements.push(statement);
      else found.set(key, { observable, statements: [statement] });
    },
    iocs(publishTime) {
      const iocs = emptyIocs();
      for (const { observable, statements } of found.values())
        iocs[indicatorTypes[observable.type].bucket].push(toIndicator(observable, statements, { publishTime, benign }));
      return iocs;
    },
  };
}

function toIndicator(
  { type, value, normalizedValue, correction }: IndicatorObservable,
  statements: IndicatorStatement[],
  { publishTime, benign }: { publishTime: string | undefined; benign: BenignLookup | undefined },
): Iocs['ipv4'][number] {
  const [firstSeen] = listTimes(statements, 'firstSeen').toSorted();
  const lastSeen = listTimes(statements, 'lastSeen').toSorted().at(-1);
  const standing = statements.filter(({ revoked }) => !revoked);
  const isHarmless =
    statements.some(({ falsePositive }) => falsePositive) ||
    findBenignReason(type, normalizedValue, benign) !== undefined;
  const role = isHarmless ? undefined : findRole(statements);
  const isFalsePositive = isHarmless || (role !== undefined && isHarmlessRole(role));
  // If any statement has no end, the default TTL applies.
  const ends = standing.map(({ until }) => until);
  const until = ends.includes(undefined) ? undefined : (ends as string[]).toSorted().at(-1);
  const from = lastSeen ?? publishTime;
  return {
    type,
    value,
    normalizedValue,
    status: isFalsePositive ? 'false_positive' : standing.length === 0 ? 'revoked' : 'active',
    confidence: roundConfidence(Math.max(...statements.map((statement) => statement.confidence))),
    ...(firstSeen ? { firstSeen } : {}),
    ...(lastSeen ? { lastSeen } : {}),
    ttlDays: ttlDays(type, {
      phishing: statements.some(({ phishing }) => phishing === true),
      ...(until && from ? { from: Date.parse(from), until: Date.parse(until) } : {}),
    }),
    ...(correction ? { correction } : {}),
    ...(role ? { role } : {}),
  };
}

/** Returns the role that decides. That a text only refers to a value says nothing if another statement reports it. */
function findRole(statements: IndicatorStatement[]): string | undefined {
  const roles = statements.map(({ role }) => role);
  return (
    roles.find((role) => role !== undefined && role !== 'reference') ??
    (roles.includes(undefined) ? undefined : roles[0])
  );
}

const listTimes = (statements: IndicatorStatement[], name: 'firstSeen' | 'lastSeen'): string[] =>
  statements.map((statement) => statement[name]).filter((text) => text !== undefined);
