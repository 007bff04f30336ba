import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { uuidv5 } from '../../src/feed/exports/stix/stix-object.ts';
import { FeedItem } from '../../src/feed/model/item.schema.ts';
import { buckets } from '../../src/feed/model/vocabulary.ts';
import { toFeedItem } from '../../src/feed/ingestion/item-document.ts';
import type { SourceRecord } from '../../src/feed/model/source-record.ts';
import type { SourceDocument } from '../../src/feed/formats/fetch-session.ts';
import type { SourceRow } from '../../src/feed/ingestion/source-row.ts';
import { sourceFormats, type SourceKind } from '../../src/feed/formats/registry.ts';
import { requireData } from '../recorded-inputs.ts';
import type { QualityFigure } from '../figures.ts';

/** The recorded inputs per format. */
export const recordedSources: [SourceKind, string][] = [
  ['kev', 'feed/kev/kev-latest.json.gz'],
  ['stix', 'feed/stix'],
  ['misp', 'feed/misp'],
  ['misp', 'feed/eset/misp'],
  ['csaf', 'feed/csaf'],
  ['osv', 'feed/osv/osv.zip'],
];

/** Reads the documents of a recorded source like a directory source. */
export function readSourceDocuments(path: string): SourceDocument[] {
  const whole = join(requireData(), path);
  if (statSync(whole).isFile()) return [{ name: path, bytes: readFileSync(whole) }];
  const names = readdirSync(whole, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.json(?:\.gz)?$/.test(name),
  );
  return names.toSorted().map((name) => ({ name, bytes: readFileSync(join(whole, name)) }));
}

/** Builds the feed item of a record with a stable id. */
export function toItem(record: SourceRecord, kind: SourceKind): FeedItem {
  const url = 'https://source.example/';
  const source = { kind, url, name: kind, visibility: 'shared', reliability: 0.6 } as SourceRow;
  const id = uuidv5('00abedb4-aa42-466c-9c01-fed23315a9b7', `${kind} ${record.recordId}`);
  const at = new Date('2026-01-05T09:00:00Z');
  const status = record.withdrawn ? ('retracted' as const) : ('active' as const);
  const stamps = { id, version: 1, status, createdAt: at, addedToFeedAt: at, lastUpdated: at };
  return toFeedItem(record, { ...source, tlp: null, publisher: null, license: null }, stamps);
}

/** Checks the passages, evidence references and indicators of every item of every recorded source against its text. */
export async function measurePassages(verbose: boolean): Promise<QualityFigure[]> {
  return recordedSources.map(([kind, path]) => {
    const { records } = sourceFormats[kind].parse(readSourceDocuments(path), { reliability: 0.6 });
    const seen = { passages: 0, references: 0, indicators: 0, escaped: 0, wrong: 0 };
    for (const record of records) check(record, kind, seen, verbose);
    const { passages, references, indicators, escaped, wrong } = seen;
    return {
      name: `${path}: passages, evidence references, indicators in passages, schema`,
      measured: `${records.length} items, ${passages} passages, ${references} references, ${indicators} indicators (${escaped} escaped), ${wrong} wrong`,
      target: '0 wrong',
      isMet: wrong === 0 && records.length > 0,
    };
  });
}

type PassageCounts = { passages: number; references: number; indicators: number; escaped: number; wrong: number };

function check(record: SourceRecord, kind: SourceKind, seen: PassageCounts, verbose: boolean): void {
  const item = toItem(record, kind);
  const wrong = (what: string): void => {
    seen.wrong += 1;
    if (verbose) console.log(`${kind} ${record.recordId}: ${what}`);
  };
  const { supportingPassages } = item.provenance;
  for (const { text, charSpan } of supportingPassages) {
    seen.passages += 1;
    const isTrue = record.storedText.slice(charSpan.start, charSpan.end) === text && text !== '';
    if (!isTrue || charSpan.start < 0 || charSpan.end > record.storedText.length) wrong(`passage ${charSpan.start}`);
  }
  for (const { evidenceRef } of item.classification.attack) {
    seen.references += 1;
    const index = /^provenance\.supportingPassages\[(\d+)\]$/.exec(evidenceRef)?.[1];
    if (index === undefined || !supportingPassages[Number(index)]) wrong(evidenceRef);
  }
  const texts = supportingPassages.map(({ text }) => text);
  const all = texts.join('\n');
  for (const { value } of buckets.flatMap((bucket) => item.iocs[bucket])) {
    seen.indicators += 1;
    const plain = value.trim();
    if (all.includes(plain)) continue;
    seen.escaped += 1;
    if (!all.includes(plain.replaceAll(/[\\']/g, String.raw`\$&`))) wrong(`indicator ${value}`);
  }
  const parsed = FeedItem.safeParse(item);
  if (!parsed.success) wrong(parsed.error.message);
  const { tenantOverrides: _, ...rest } = item;
  if (/:null[,}]/.test(JSON.stringify(rest))) wrong('a null');
}
