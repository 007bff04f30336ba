import { createHash } from 'node:crypto';
import { ttlDays } from '../../model/expiry.ts';
import type { Indicator } from '../../model/item.schema.ts';
import { toComparisonForm } from '../../model/values/comparison-form.ts';
import { bucketByType } from '../../model/vocabulary.ts';
import { createClassificationBuilder, type ClassificationBuilder } from '../../extraction/classification-builder.ts';
import type { ReferenceLists } from '../../extraction/extract-item.ts';
import { addProseNames } from '../../extraction/names/add-prose-names.ts';
import { findBenignReason, type BenignLookup } from '../../extraction/indicators/assessment/benign-values.ts';
import { toMappingId, type IndicatorObservable } from '../../extraction/observable.ts';
import { findTaggedName } from '../../extraction/names/dictionary/tagged-name.ts';
import { createPassageCollector } from '../../extraction/text/passage-collector.ts';
import type { Span } from '../../extraction/text/stored-text.ts';
import { roundConfidence, emptyIocs, type SourceRecord } from '../../model/source-record.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import { strictestTlp } from '../record-fields.ts';
import type { ParseContext } from '../source-format.ts';
import { toLine, type ListLine } from './list-line.ts';
import type { ListRow } from './list-row.ts';

/** `date` is the stated date of the list, used for rows without observable. `isPhishing` applies to the whole list. */
type IndicatorList = {
  recordId: string;
  title: string;
  lines: ListLine[];
  date: string | undefined;
  /** The marking of the whole list. */
  tlp: Tlp | undefined;
  isPhishing: boolean;
};

const malwareMax = 100;
/** Longer lines are not passages as a whole. */
const passageMaxChars = 1_000;

/** Returns the record of a list or a part of it. Every indicator has its line as supporting passage. */
export function toListRecord(list: IndicatorList, { reliability, lists, now }: ParseContext): SourceRecord {
  const iocs = emptyIocs();
  const mappings = new Map<string, SourceRecord['classification']['mappings'][number]>();
  const classification = createClassificationBuilder(lists?.names);
  const known = new Map<string, Indicator>();
  const spans: Span[] = [];
  let offset = 0;
  const texts: string[] = [];
  for (const { text: line, row } of list.lines) {
    for (const observable of row.observables) {
      const confidence = row.confidence ?? roundConfidence(reliability);
      if (observable.kind === 'other') {
        mappings.set(`${observable.framework} ${observable.value}`, {
          framework: observable.framework,
          id: toMappingId(observable).slice(0, 500).toWellFormed(),
          confidence,
        });
        continue;
      }
      const key = `${observable.type} ${toComparisonForm(observable.normalizedValue)}`;
      const before = known.get(key);
      if (before) {
        widenTimeRange(before, row);
        if (before.status === 'revoked' && !row.isRevoked) before.status = 'active';
      } else {
        const indicator = toIndicator(observable, row, {
          confidence,
          date: list.date,
          isPhishing: list.isPhishing,
          benign: lists?.benign,
          now,
        });
        known.set(key, indicator);
        iocs[bucketByType[observable.type]].push(indicator);
        const { start, end } = locateInLine(line, observable.value);
        spans.push({ start: offset + start, end: offset + end });
      }
      for (const tag of row.tags ?? []) {
        const tagged = findTaggedName(tag, lists?.names);
        if (tagged) classification.addName(tagged.kind, tagged.name, confidence);
      }
      for (const actor of row.actors ?? []) if (actor) classification.addName('actor', actor, confidence);
      if (row.malware) classification.addName('malware', row.malware, confidence);
    }
    texts.push(line);
    offset += line.length + 1;
  }
  addDescribedNames(list, classification, { names: lists?.names, reliability });
  const storedText = texts.join('\n');
  const passages = createPassageCollector(storedText);
  const { classification: named } = classification.build([]);
  passages.cover(spans);
  return {
    recordId: list.recordId,
    canonicalKey: `txt:${createHash('sha256')
      .update(JSON.stringify([list.title, storedText]))
      .digest('hex')}`,
    title: list.title,
    tlp: strictestTlp([list.tlp ?? [], list.lines.flatMap(({ row }) => row.tlp ?? [])].flat()),
    withdrawn: false,
    severity: 'none',
    severityRule: 'none',
    attackPath: [],
    classification: {
      ...named,
      malware: named.malware.slice(0, malwareMax),
      mappings: [...mappings.values(), ...named.mappings],
    },
    affectedProducts: [],
    iocs,
    storedText,
    passages: passages.list(),
  };
}

const descriptionsMaxChars = 20_000;

/** Adds the names and CVEs in the title of a list and the descriptions of its rows, each of which is read once. */
function addDescribedNames(
  { title, lines }: IndicatorList,
  classification: ClassificationBuilder,
  { names, reliability }: Pick<ReferenceLists, 'names'> & { reliability: number },
): void {
  const descriptions = new Set(lines.flatMap(({ row }) => row.description ?? []));
  if (descriptions.size === 0) return;
  const text = [title, ...descriptions].join('\n').slice(0, descriptionsMaxChars);
  addProseNames(classification, text, names);
  for (const [cve] of text.matchAll(/\bCVE-\d{4}-\d{4,7}\b/gi))
    classification.addMapping('cve', cve.toUpperCase(), reliability);
}

/** Returns the span of a line, or of the value alone in a long one. */
function locateInLine(line: string, value: string): Span {
  const stored = toLine(value);
  const start = line.length <= passageMaxChars ? -1 : line.indexOf(stored);
  return start < 0 ? { start: 0, end: line.length } : { start, end: start + stored.length };
}

type IndicatorContext = Pick<IndicatorList, 'date' | 'isPhishing'> & {
  now: Date | undefined;
  confidence: number;
  benign: BenignLookup | undefined;
};

function toIndicator(
  { type, value, normalizedValue, correction }: IndicatorObservable,
  row: ListRow,
  { confidence, date, isPhishing, benign, now }: IndicatorContext,
): Indicator {
  const lastSeen = row.lastSeen ?? row.firstSeen ?? date;
  const isHarmless = row.isBenign || findBenignReason(type, normalizedValue, benign) !== undefined;
  // Without a date, the lifetime begins with the pull.
  const from = lastSeen === undefined ? now?.getTime() : Date.parse(lastSeen);
  const validity = from !== undefined && row.validUntil ? { from, until: Date.parse(row.validUntil) } : {};
  return {
    type,
    value,
    normalizedValue,
    status: isHarmless ? 'false_positive' : row.isRevoked ? 'revoked' : 'active',
    confidence,
    ...(row.firstSeen ? { firstSeen: row.firstSeen } : {}),
    ...(lastSeen ? { lastSeen } : {}),
    ttlDays: ttlDays(bucketByType[type], { phishing: isPhishing || row.phishing === true, ...validity }),
    ...(correction ? { correction } : {}),
  };
}

function widenTimeRange(known: Indicator, { firstSeen, lastSeen = firstSeen }: ListRow): void {
  if (firstSeen && (known.firstSeen ?? '9') > firstSeen) known.firstSeen = firstSeen;
  if (lastSeen && (known.lastSeen ?? '') < lastSeen) known.lastSeen = lastSeen;
}
