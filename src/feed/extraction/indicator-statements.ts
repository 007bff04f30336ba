import { ttlDays } from '../model/expiry.ts';
import type { Iocs } from '../model/item.schema.ts';
import { bucketByType } from '../model/vocabulary.ts';
import { roundConfidence, emptyIocs } from '../model/source-record.ts';
import type { ClassificationMapping } from './classification-builder.ts';
import type { Observable } from './observable.ts';

/** What a source says of a value at one place. Times are ISO text. */
export type IndicatorStatement = {
  revoked?: boolean;
  falsePositive?: boolean;
  confidence: number;
  firstSeen?: string | undefined;
  lastSeen?: string | undefined;
  until?: string | undefined;
  phishing?: boolean;
};

const mappingMaxChars = 1_000;

/**
 * Collects the indicators of an item. A value stated several times is one indicator: the best confidence, the widest time, revoked only if
 * no statement stands. What has no class becomes a mapping.
 */
export function createStatementCollector(): {
  state: (observable: Observable, statement: IndicatorStatement) => void;
  iocs: (publishTime: string | undefined) => Iocs;
  mappings: ClassificationMapping[];
} {
  const found = new Map<string, { observable: Observable & { kind: 'indicator' }; made: IndicatorStatement[] }>();
  const mappings: ClassificationMapping[] = [];
  return {
    mappings,
    state(observable, statement) {
      if (observable.kind === 'other') {
        const id = observable.value.slice(0, mappingMaxChars).toWellFormed();
        mappings.push({ framework: observable.framework, id, confidence: roundConfidence(statement.confidence) });
        return;
      }
      const key = `${observable.type} ${observable.normalizedValue}`;
      const known = found.get(key);
      if (known) known.made.push(statement);
      else found.set(key, { observable, made: [statement] });
    },
    iocs(publishTime) {
      const iocs = emptyIocs();
      for (const { observable, made } of found.values())
        iocs[bucketByType[observable.type]].push(indicatorOf(observable, made, publishTime));
      return iocs;
    },
  };
}

function indicatorOf(
  { type, value, normalizedValue }: Observable & { kind: 'indicator' },
  made: IndicatorStatement[],
  publishTime: string | undefined,
): Iocs['ipv4'][number] {
  const [firstSeen] = texts(made, 'firstSeen').toSorted();
  const lastSeen = texts(made, 'lastSeen').toSorted().at(-1);
  const standing = made.filter(({ revoked }) => !revoked);
  // One open end keeps the value alive as long as the default says.
  const ends = standing.map(({ until }) => until);
  const until = ends.includes(undefined) ? undefined : (ends as string[]).toSorted().at(-1);
  const from = lastSeen ?? publishTime;
  return {
    type,
    value,
    normalizedValue,
    status: made.some(({ falsePositive }) => falsePositive)
      ? 'false_positive'
      : standing.length === 0
        ? 'revoked'
        : 'active',
    confidence: roundConfidence(Math.max(...made.map((statement) => statement.confidence))),
    ...(firstSeen ? { firstSeen } : {}),
    ...(lastSeen ? { lastSeen } : {}),
    ttlDays: ttlDays(bucketByType[type], {
      phishing: made.some(({ phishing }) => phishing === true),
      ...(until && from ? { from: Date.parse(from), until: Date.parse(until) } : {}),
    }),
  };
}

const texts = (made: IndicatorStatement[], name: 'firstSeen' | 'lastSeen'): string[] =>
  made.map((statement) => statement[name]).filter((text) => text !== undefined);
