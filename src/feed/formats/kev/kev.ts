import { roundConfidence, parseInstant, emptyIocs, type SourceRecord } from '../../model/source-record.ts';
import type { ParseResult, SourceFormat } from '../source-format.ts';
import { isObject, parseJsonBytes, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { findProductPlatforms } from '../../extraction/products/product-platforms.ts';
import { firstSentences } from '../../extraction/text/first-sentences.ts';
import { judgeSeverity } from '../../extraction/judge-severity.ts';
import { createStoredText } from '../../extraction/text/stored-text.ts';

const rowsMax = 100_000;
const cvePattern = /^CVE-\d{4}-\d{4,19}$/;

/** The catalogue of Known Exploited Vulnerabilities as CISA publishes it in JSON. */
export const kev: SourceFormat = {
  label: 'Known Exploited Vulnerabilities (CISA)',
  defaults: {
    publisher: 'CISA',
    tlp: 'CLEAR',
    license: 'CC0-1.0',
    language: 'en',
    reliability: 0.95,
    schedule: '0 * * * *',
  },
  parse(parts, context) {
    if (parts.length !== 1) throw new Error('a catalogue is one document, not a directory');
    const catalogue = parseJsonBytes(parts[0]!.bytes);
    if (!isObject(catalogue) || !Array.isArray(catalogue['vulnerabilities']))
      throw new Error('the document has no list "vulnerabilities"');
    const rows: unknown[] = catalogue['vulnerabilities'];
    if (rows.length > rowsMax) throw new Error(`the catalogue has more than ${rowsMax} rows`);
    const released = parseInstant(catalogue['dateReleased']);
    if (!released) throw new Error('the catalogue has no valid "dateReleased"');
    if (typeof catalogue['count'] !== 'number') throw new Error('the catalogue declares no "count"');
    return {
      ...readRows(rows, context.reliability),
      catalog: { declared: catalogue['count'], rows: rows.length, released },
    };
  },
};

function readRows(rows: unknown[], reliability: number): Pick<ParseResult, 'records' | 'skipped'> {
  const records = new Map<string, SourceRecord>();
  const skipped: ParseResult['skipped'] = [];
  for (const [index, row] of rows.entries()) {
    const id = isObject(row) ? asText(row['cveID'])?.trim() : undefined;
    if (!isObject(row) || !id || !cvePattern.test(id))
      skipped.push({ entry: id?.slice(0, 100) ?? `vulnerabilities/${index}`, reason: 'no valid cveID' });
    else if (records.has(id)) skipped.push({ entry: id, reason: 'stands in the catalogue more than once' });
    else records.set(id, readRow(id, row, reliability));
  }
  return { records: [...records.values()], skipped };
}

function readRow(id: string, row: JsonObject, reliability: number): SourceRecord {
  const text = createStoredText();
  const spans = text.addFields(row);
  const proofs = ['shortDescription', 'vendorProject', 'product', 'knownRansomwareCampaignUse', 'cwes'];
  for (const name of proofs) if (spans.has(name)) text.addPassage(spans.get(name)!);
  const description = asText(row['shortDescription']);
  const vendor = asText(row['vendorProject']) ?? '';
  const product = asText(row['product']) ?? '';
  const ransomware = asText(row['knownRansomwareCampaignUse'])?.trim().toLowerCase() === 'known';
  const judged = judgeSeverity({ text: description ?? '', exploited: ransomware ? 'ransomware' : 'listed' });
  const sure = roundConfidence(reliability);
  return {
    recordId: id,
    canonicalKey: `cve:${id}`,
    externalId: id,
    title: (asText(row['vulnerabilityName']) ?? id).trim().slice(0, 500).toWellFormed(),
    publishTime: parseInstant(row['dateAdded']),
    withdrawn: false,
    severity: judged.severity,
    severityRule: judged.rule,
    abstract: description,
    summary: description && firstSentences(description, 3, 600),
    tldr: description && firstSentences(description, 1, 300),
    attackPath: [],
    classification: {
      attack: [],
      killChain: [],
      malware: [],
      actor: [],
      platforms: findProductPlatforms(vendor, product),
      mappings: [
        { framework: 'cve', id, confidence: sure },
        ...cwesOf(row).map((cwe) => ({ framework: 'cwe', id: cwe, confidence: sure })),
      ],
    },
    affectedProducts: vendor || product ? [{ vendor, product, versions: [], confidence: sure }] : [],
    iocs: emptyIocs(),
    storedText: text.text(),
    passages: text.passages(),
  };
}

const cwesOf = (row: JsonObject): string[] => [
  ...new Set(
    asTexts(row['cwes'])
      .map((cwe) => cwe.trim())
      .filter((cwe) => /^CWE-\d+$/.test(cwe)),
  ),
];
