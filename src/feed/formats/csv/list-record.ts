import { createHash } from 'node:crypto';
import { ttlDays } from '../../model/expiry.ts';
import type { Indicator } from '../../model/item.schema.ts';
import { bucketByType } from '../../model/vocabulary.ts';
import { findShippedBenignReason } from '../../extraction/indicators/assessment/benign-values.ts';
import { createPassageCollector } from '../../extraction/text/passage-collector.ts';
import type { Span } from '../../extraction/text/stored-text.ts';
import { roundConfidence, emptyIocs, type SourceRecord } from '../../model/source-record.ts';
import type { ParseContext } from '../source-format.ts';
import type { ListRow } from './list-row.ts';

/** A row with the line that it is kept as. */
export type ListLine = { text: string; row: ListRow };

/** `date`: when the list is of, where it says so: its rows without a date were seen then. `phishing`: the whole list is of that. */
type List = { recordId: string; title: string; lines: ListLine[]; date: string | undefined; phishing: boolean };

const malwareMax = 100;
const lineMaxChars = 4_000;

/** The item of a list, or of one part of it: every indicator with the line that states it. */
export function toListRecord(given: List, { reliability }: ParseContext): SourceRecord {
  const iocs = emptyIocs();
  const mappings = new Map<string, SourceRecord['classification']['mappings'][number]>();
  const malware = new Map<string, number>();
  const known = new Map<string, Indicator>();
  const spans: Span[] = [];
  let at = 0;
  const texts: string[] = [];
  for (const { text, row } of given.lines) {
    const line = text.slice(0, lineMaxChars).toWellFormed();
    for (const one of row.observables) {
      if (!line.includes(one.value)) continue;
      const sure = row.confidence ?? roundConfidence(reliability);
      if (one.kind === 'other') {
        mappings.set(`${one.framework} ${one.value}`, {
          framework: one.framework,
          id: one.value.slice(0, 500).toWellFormed(),
          confidence: sure,
        });
        continue;
      }
      const before = known.get(`${one.type} ${one.normalizedValue}`);
      if (before) widen(before, row);
      else {
        const made = toIndicator(one, row, { sure, date: given.date, phishing: given.phishing });
        known.set(`${one.type} ${one.normalizedValue}`, made);
        iocs[bucketByType[one.type]].push(made);
        spans.push({ start: at, end: at + line.length });
      }
      if (row.malware) malware.set(row.malware, Math.max(sure, malware.get(row.malware) ?? 0));
    }
    texts.push(line);
    at += line.length + 1;
  }
  const storedText = texts.join('\n');
  const passages = createPassageCollector(storedText);
  passages.cover(spans);
  return {
    recordId: given.recordId,
    canonicalKey: `txt:${createHash('sha256')
      .update(JSON.stringify([given.title, storedText]))
      .digest('hex')}`,
    title: given.title,
    withdrawn: false,
    severity: 'none',
    severityRule: 'none',
    attackPath: [],
    classification: {
      attack: [],
      killChain: [],
      malware: [...malware].slice(0, malwareMax).map(([name, sure]) => ({ name, confidence: sure, aliases: [] })),
      actor: [],
      platforms: [],
      mappings: [...mappings.values()],
    },
    affectedProducts: [],
    iocs,
    storedText,
    passages: passages.list(),
  };
}

function toIndicator(
  { type, value, normalizedValue }: ListRow['observables'][number] & { kind: 'indicator' },
  row: ListRow,
  { sure, date, phishing }: Pick<List, 'date' | 'phishing'> & { sure: number },
): Indicator {
  const lastSeen = row.lastSeen ?? row.firstSeen ?? date;
  return {
    type,
    value,
    normalizedValue,
    status: findShippedBenignReason(type, normalizedValue) ? 'false_positive' : 'active',
    confidence: sure,
    ...(row.firstSeen ? { firstSeen: row.firstSeen } : {}),
    ...(lastSeen ? { lastSeen } : {}),
    ttlDays: ttlDays(bucketByType[type], { phishing: phishing || row.phishing === true }),
  };
}

function widen(known: Indicator, { firstSeen, lastSeen = firstSeen }: ListRow): void {
  if (firstSeen && (known.firstSeen ?? '9') > firstSeen) known.firstSeen = firstSeen;
  if (lastSeen && (known.lastSeen ?? '') < lastSeen) known.lastSeen = lastSeen;
}
