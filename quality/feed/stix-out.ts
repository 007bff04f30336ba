import { toBundle, type ItemVersion } from '../../src/feed/exports/stix/stix-item.ts';
import type { StixObject } from '../../src/feed/exports/stix/stix-object.ts';
import type { FeedItem } from '../../src/feed/model/item.schema.ts';
import type { SourceRecord } from '../../src/feed/model/source-record.ts';
import { sourceFormats } from '../../src/feed/formats/registry.ts';
import { listStixViolations } from '../../test/support/feed/stix-standard.ts';
import { readSourceDocuments, recordedSources, toItem } from './passages.ts';
import { createSchemaCheck } from './stix-schemas.ts';
import type { QualityFigure } from '../figures.ts';

/** Checks that every recorded item, written as STIX, conforms to the standard, survives a round trip and has stable bytes. */
export async function measureStixOut(verbose: boolean, schemasDir: string | undefined): Promise<QualityFigure[]> {
  const brokenSchemas = schemasDir === undefined ? undefined : createSchemaCheck(schemasDir);
  const bySchema = { bundles: 0, objects: 0, violations: 0 };
  const figures = recordedSources.map(([kind, path]) => {
    const { records } = sourceFormats[kind].parse(readSourceDocuments(path), { reliability: 0.6 });
    const seen = { objects: 0, violations: 0, lost: 0, unstable: 0 };
    for (const record of records) {
      const item = toItem(record, kind);
      // Without `originals`, items from STIX sources are also written by our exporter.
      const exported: ItemVersion = {
        item,
        originals: null,
        overrides: [],
        storedText: record.storedText,
        wasChangedByPerson: false,
      };
      const bundle = toBundle([exported]).bundle as { objects: StixObject[] };
      const text = JSON.stringify(bundle);
      const violations = listStixViolations(bundle.objects);
      const lost = listLosses(item, text);
      const broken = brokenSchemas?.(bundle) ?? [];
      if (verbose)
        for (const what of [...violations, ...lost, ...broken]) console.log(`${kind} ${record.recordId}: ${what}`);
      seen.objects += bundle.objects.length;
      bySchema.bundles += 1;
      bySchema.objects += bundle.objects.length;
      bySchema.violations += broken.length;
      seen.violations += violations.length;
      seen.lost += lost.length;
      if (JSON.stringify(toBundle([structuredClone(exported)]).bundle) !== text) seen.unstable += 1;
    }
    const { objects, violations, lost, unstable } = seen;
    return {
      name: `${path}: standard conformance, round trip, byte stability`,
      measured: `${records.length} items, ${objects} objects, ${violations} violations, ${lost} lost without report, ${unstable} unstable`,
      target: '0, 0, 0',
      isMet: violations + lost + unstable === 0 && records.length > 0,
    };
  });
  const { bundles, objects, violations } = bySchema;
  const schemas: QualityFigure = {
    name: 'all sources: JSON schemas of the standard',
    measured: brokenSchemas ? `${bundles} bundles, ${objects} objects, ${violations} violations` : 'no schemas given',
    target: '0 violations',
    isMet: brokenSchemas && violations === 0,
  };
  return [...figures, schemas];
}

/** Lists the statements of an item that reading its bundle back does not restore. */
function listLosses(item: FeedItem, text: string): string[] {
  const parsed = sourceFormats.stix.parse([{ name: 'bundle', bytes: Buffer.from(text) }], { reliability: 0.6 });
  // The parser reports texts that are too long.
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
  content: ItemContent,
): string[] {
  const { attack, malware, actor, mappings } = content.classification;
  const indicators = Object.values(content.iocs)
    .flat()
    // The exporter splits a path into directory and name, and reports the false positives that it leaves out.
    .filter(({ type, status }) => type !== 'file_path' && status !== 'false_positive')
    .map(({ type, normalizedValue, status }) => {
      return `indicator ${type} ${normalizedValue} ${status === 'revoked' ? 'revoked' : 'standing'}`;
    });
  return [
    // The parser trims titles.
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
