import { roundConfidence, parseInstant, type SourceRecord } from '../model/source-record.ts';
import { toParse } from './read-parts.ts';
import type { DraftResult, ParseContext, RecordDraft, SourceFormat } from './source-format.ts';
import type { SourceDocument } from './fetch-session.ts';
import {
  asObject,
  asText,
  asTexts,
  isObject,
  parseJsonBytes,
  type JsonObject,
} from '../../platform/lib/json/json-values.ts';
import { findProductPlatforms } from '../extraction/products/product-platforms.ts';
import { judgeSeverity } from '../extraction/severity/judge-severity.ts';
import { clip, cvePattern, cwePattern, storeFields, toVulnerabilityFields } from './record-fields.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';

const rowsMax = 100_000;

/** CISA's catalog of Known Exploited Vulnerabilities in JSON. */
export const kev: SourceFormat = {
  label: 'Known Exploited Vulnerabilities (CISA)',
  searchWords: 'KEV known exploited vulnerability',
  defaults: {
    publisher: 'CISA',
    tlp: 'CLEAR',
    license: 'CC0-1.0',
    language: 'en',
    reliability: 0.95,
    schedule: '0 * * * *',
  },
  parse: toParse(draftCatalog),
  draft: draftCatalog,
};

function draftCatalog(parts: SourceDocument[], { reliability }: ParseContext): DraftResult {
  if (parts.length !== 1) throw new ExternalError('a catalog is a single document, not a directory');
  const catalog = asObject(parseJsonBytes(parts[0]!.bytes));
  const rows = catalog['vulnerabilities'];
  if (!Array.isArray(rows)) throw new ExternalError('the document has no list "vulnerabilities"');
  if (rows.length > rowsMax) throw new ExternalError(`the catalog has more than ${rowsMax} rows`);
  const released = parseInstant(catalog['dateReleased']);
  if (!released) throw new ExternalError('the catalog has no valid "dateReleased"');
  if (typeof catalog['count'] !== 'number') throw new ExternalError('the catalog has no "count"');
  return { ...draftRows(rows, reliability), catalog: { declared: catalog['count'], rows: rows.length, released } };
}

function draftRows(rows: unknown[], reliability: number): DraftResult {
  const drafts = new Map<string, RecordDraft>();
  const skipped: DraftResult['skipped'] = [];
  for (const [index, row] of rows.entries()) {
    const id = isObject(row) ? asText(row['cveID'])?.trim() : undefined;
    if (!isObject(row) || !id || !cvePattern.test(id))
      skipped.push({ entry: id?.slice(0, 100) ?? `vulnerabilities/${index}`, reason: 'no valid cveID' });
    else if (drafts.has(id)) skipped.push({ entry: id, reason: 'occurs in the catalog more than once' });
    else {
      const publishTime = parseInstant(row['dateAdded']);
      drafts.set(id, { recordId: id, publishTime, build: () => toKevRecord(id, row, { publishTime, reliability }) });
    }
  }
  return { drafts: [...drafts.values()], skipped };
}

function toKevRecord(
  id: string,
  row: JsonObject,
  { publishTime, reliability }: Pick<RecordDraft, 'publishTime'> & Pick<ParseContext, 'reliability'>,
): SourceRecord {
  const text = storeFields(row, ['shortDescription', 'vendorProject', 'product', 'knownRansomwareCampaignUse', 'cwes']);
  const description = asText(row['shortDescription']);
  const vendor = asText(row['vendorProject']) ?? '';
  const product = asText(row['product']) ?? '';
  const hasRansomwareUse = asText(row['knownRansomwareCampaignUse'])?.trim().toLowerCase() === 'known';
  const exploited = hasRansomwareUse ? 'ransomware' : 'listed';
  const confidence = roundConfidence(reliability);
  const cwes = asTexts(row['cwes']).map((cwe) => cwe.trim());
  return {
    ...toVulnerabilityFields(description, judgeSeverity({ text: description ?? '', exploited }), text),
    recordId: id,
    canonicalKey: `cve:${id}`,
    externalId: id,
    title: clip(asText(row['vulnerabilityName']) ?? id, 500),
    publishTime,
    withdrawn: false,
    attackPath: [],
    classification: {
      attack: [],
      killChain: [],
      malware: [],
      actor: [],
      platforms: [...findProductPlatforms(vendor, product)],
      mappings: [
        { framework: 'cve', id, confidence },
        ...[...new Set(cwes)]
          .filter((cwe) => cwePattern.test(cwe))
          .map((cwe) => ({ framework: 'cwe', id: cwe, confidence })),
      ],
    },
    affectedProducts: vendor || product ? [{ vendor, product, versions: [], confidence }] : [],
  };
}
