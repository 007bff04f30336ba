import { toBundle } from '../src/feed/exports/stix/bundle.ts';
import type { ItemVersion } from '../src/feed/exports/stix/stix-item.ts';
import { uuidv5, type StixObject } from '../src/feed/exports/stix/stix-object.ts';
import type { FeedItem } from '../src/feed/model/item.schema.ts';
import { toFeedItem } from '../src/feed/ingestion/item-document.ts';
import type { SourceRecord } from '../src/feed/model/source-record.ts';
import type { SourceRow } from '../src/feed/ingestion/source-row.ts';
import { sourceFormats, type SourceKind } from '../src/feed/formats/registry.ts';
import { listStixViolations } from '../test/support/feed/stix-standard.ts';
import { readSourceDocuments, recordedSources } from './passages.ts';
import { createSchemaCheck } from './stix-schemas.ts';
import type { QualityFigure } from './figures.ts';

/** Whether every recorded item, written as STIX, keeps to the standard, reads back and has the same bytes twice. */
export async function measureStixOut(verbose: boolean, schemasDir: string | undefined): Promise<QualityFigure[]> {
  const brokenSchemas = schemasDir === undefined ? undefined : createSchemaCheck(schemasDir);
  const bySchema = { bundles: 0, objects: 0, faults: 0 };
  const figures = recordedSources.map(([kind, path]) => {
    const { records } = sourceFormats[kind].parse(readSourceDocuments(path), { reliability: 0.6 });
    const seen = { objects: 0, faults: 0, lost: 0, differing: 0 };
    for (const record of records) {
      const item = toItem(record, kind);
      // What came as STIX is written anew as well: else there would be nothing to see.
      const exported: ItemVersion = { item, originals: null, overrides: [], isByPerson: false };
      const bundle = toBundle([exported]).bundle as { objects: StixObject[] };
      const text = JSON.stringify(bundle);
      const faults = listStixViolations(bundle.objects);
      const lost = listLosses(item, text);
      const broken = brokenSchemas?.(bundle) ?? [];
      if (verbose)
        for (const what of [...faults, ...lost, ...broken]) console.log(`${kind} ${record.recordId}: ${what}`);
      seen.objects += bundle.objects.length;
      bySchema.bundles += 1;
      bySchema.objects += bundle.objects.length;
      bySchema.faults += broken.length;
      seen.faults += faults.length;
      seen.lost += lost.length;
      if (JSON.stringify(toBundle([structuredClone(exported)]).bundle) !== text) seen.differing += 1;
    }
    const { objects, faults, lost, differing } = seen;
    return {
      name: `${path}: against the standard, read back, written twice`,
      measured: `${records.length} items, ${objects} objects, ${faults} faults, ${lost} lost and not reported, ${differing} with other bytes`,
      target: '0, 0, 0',
      isMet: faults + lost + differing === 0 && records.length > 0,
    };
  });
  const { bundles, objects, faults } = bySchema;
  const schemas: QualityFigure = {
    name: 'all of them: against the JSON schemas of the standard',
    measured: brokenSchemas ? `${bundles} bundles, ${objects} objects, ${faults} faults` : 'the schemas were not given',
    target: '0 faults',
    isMet: brokenSchemas && faults === 0,
  };
  return [...figures, schemas];
}

function toItem(record: SourceRecord, kind: SourceKind): FeedItem {
  const url = 'https://source.example/';
  const source = { kind, url, name: kind, visibility: 'shared', reliability: 0.6 } as SourceRow;
  const id = uuidv5('00abedb4-aa42-466c-9c01-fed23315a9b7', `${kind} ${record.recordId}`);
  const at = new Date('2026-01-05T09:00:00Z');
  const status = record.withdrawn ? ('retracted' as const) : ('active' as const);
  const stamps = { id, version: 1, status, createdAt: at, addedToFeedAt: at, lastUpdated: at };
  return toFeedItem(record, { ...source, tlp: null, publisher: null, license: null }, stamps);
}

/** What of an item is not in what our own reader makes of its bundle, the fields apart that are reported as lost. */
function listLosses(item: FeedItem, text: string): string[] {
  const parsed = sourceFormats.stix.parse([{ name: 'bundle', bytes: Buffer.from(text) }], { reliability: 0.6 });
  // A text of more characters than our reader takes: it says so.
  if (parsed.skipped.some(({ reason }) => reason.startsWith('its text is longer than'))) return [];
  const [record] = parsed.records;
  if (!record || parsed.records.length > 1) return [`read as ${parsed.records.length} items`];
  const back = new Set(listStatements(record, record));
  const here = listStatements(
    { ...record, title: item.event.title, severity: item.event.severity, tlp: item.source.tlp },
    item,
  );
  const isRetracted = item.event.status === 'retracted';
  return here.filter((one) => !back.has(one) && !(isRetracted && /^(technique|malware|actor|cve) /.test(one)));
}

type ItemContent = Pick<FeedItem, 'classification' | 'iocs'>;

function listStatements(
  { title, severity, tlp }: Pick<SourceRecord, 'title' | 'severity' | 'tlp'>,
  said: ItemContent,
): string[] {
  const { attack, malware, actor, mappings } = said.classification;
  const indicators = Object.values(said.iocs)
    .flat()
    // A path is given as directory and name, which patterns look for.
    .filter(({ type }) => type !== 'file_path')
    .map(({ type, normalizedValue, status }) => {
      const isTakenBack = status === 'revoked' || status === 'false_positive';
      return `indicator ${type} ${normalizedValue} ${isTakenBack ? 'revoked' : 'standing'}`;
    });
  return [
    // Our reader trims it.
    `title ${title.trim()}`,
    `severity ${severity}`,
    `tlp ${tlp}`,
    ...attack.map(({ technique, subTechnique }) => `technique ${subTechnique ?? technique}`),
    ...malware.map(({ name }) => `malware ${name.toLowerCase()}`),
    ...actor.map(({ name }) => `actor ${name.toLowerCase()}`),
    ...mappings.filter(({ framework }) => framework === 'cve').map(({ id }) => `cve ${id}`),
    ...indicators,
  ];
}
