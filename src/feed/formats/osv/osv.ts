import { createProductCollector } from '../../extraction/products/product-collector.ts';
import { createClassificationBuilder } from '../../extraction/classification-builder.ts';
import { selectCvssScore, scoreCvssVector } from '../../extraction/cvss.ts';
import { isObject, asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { firstSentences } from '../../extraction/text/first-sentences.ts';
import { ownValue } from '../../../platform/lib/own-value.ts';
import { judgeSeverity } from '../../extraction/judge-severity.ts';
import { createStoredText } from '../../extraction/text/stored-text.ts';
import { parseJsonOrYaml } from '../../../platform/lib/json/yaml.ts';
import { parseInstant, emptyIocs, type SourceRecord } from '../../model/source-record.ts';
import type { ParseResult, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { fetchOsv } from './fetch-osv.ts';
import { osvIdPattern } from './scan-index.ts';
import { listAffectedVersions } from './osv-versions.ts';
import { isZip, readZip } from '../../../platform/lib/zip.ts';
import { readParts } from '../read-parts.ts';

const cvePattern = /^CVE-\d{4}-\d{4,19}$/;
const fileNames = /\.(?:json|ya?ml)(?:\.gz)?$/i;
const zipBounds = { entriesMax: 100_000, entryMaxBytes: 8 * 1024 * 1024, totalMaxBytes: 256 * 1024 * 1024 };

/** The databases whose ids are met most; others are named by their prefix. */
const publishers: Record<string, string> = {
  GHSA: 'GitHub',
  PYSEC: 'Python Packaging Advisory Database',
  RUSTSEC: 'RustSec',
  GO: 'Go Vulnerability Database',
  MAL: 'OpenSSF Malicious Packages',
  OSV: 'OSV',
  CVE: 'CVE',
};

/** Open Source Vulnerability records (schema 1.x) in JSON or YAML: one, a directory, a zip, or an index `modified_id.csv`. */
export const osv: SourceFormat = {
  label: 'Open Source Vulnerabilities (OSV)',
  defaults: { language: 'en', reliability: 0.8, schedule: '0 * * * *' },
  files: /\.(?:json(?:\.gz)?|ya?ml(?:\.gz)?|zip)$/i,
  fetch: (context) => (/\.csv$/i.test(new URL(context.url).pathname) ? fetchOsv(context) : undefined),
  parse: (parts, { reliability }) => readParts(parts.flatMap(unzipped), (part) => readPart(part, reliability)),
};

const unzipped = (part: SourceDocument): SourceDocument[] =>
  isZip(part.bytes) ? readZip(part.bytes, (name) => fileNames.test(name), zipBounds) : [part];

function readPart(part: SourceDocument, reliability: number): ParseResult {
  const document = parseJsonOrYaml(part.bytes);
  const entries: unknown[] = Array.isArray(document)
    ? document
    : isObject(document) && Array.isArray(document['vulns'])
      ? document['vulns']
      : [document];
  const parsed: ParseResult = { records: [], skipped: [] };
  for (const [index, entry] of entries.entries()) {
    const id = isObject(entry) ? asText(entry['id'])?.trim() : undefined;
    if (isObject(entry) && id && osvIdPattern.test(id) && parseInstant(entry['modified']))
      parsed.records.push(readRecord(id, entry, { part, reliability }));
    else if (entries.length === 1) throw new Error('the document is no OSV record with id and modified');
    else parsed.skipped.push({ entry: id ?? `${part.name}[${index}]`, reason: 'no OSV record with id and modified' });
  }
  return parsed;
}

function readRecord(
  id: string,
  entry: JsonObject,
  { part, reliability }: { part: SourceDocument; reliability: number },
): SourceRecord {
  const text = createStoredText();
  const spans = text.addFields(entry);
  for (const name of ['summary', 'details', 'aliases', 'withdrawn'])
    if (spans.has(name)) text.addPassage(spans.get(name)!);
  const aliases = asTexts(entry['aliases']).map((alias) => alias.trim());
  const products = createProductCollector(reliability);
  for (const affected of asObjects(entry['affected'])) {
    const named = isObject(affected['package']) ? affected['package'] : {};
    const product = asText(named['name']) ?? asText(named['purl']) ?? '';
    products.add(asText(named['ecosystem']) ?? '', product, listAffectedVersions(affected));
  }
  const found = createClassificationBuilder();
  for (const cve of [id, ...aliases, ...asTexts(entry['upstream'])].filter((name) => cvePattern.test(name)))
    found.addMapping('cve', cve, reliability);
  // Records of several databases that are about one thing find each other by these.
  for (const name of [id, ...aliases].filter((name) => !cvePattern.test(name)))
    found.addMapping('observable:advisory', name, reliability);
  const specific = isObject(entry['database_specific']) ? entry['database_specific'] : {};
  for (const cwe of asTexts(specific['cwe_ids']).filter((name) => /^CWE-\d+$/.test(name)))
    found.addMapping('cwe', cwe, reliability);
  const details = asText(entry['details']);
  const summary = asText(entry['summary']) ?? (details && firstSentences(details, 1, 300));
  const judged = judgeSeverity({ ...severityOf(entry, specific), text: details ?? summary ?? '', exploited: 'no' });
  return {
    recordId: id,
    canonicalKey: keyOf(id, aliases),
    aliases: [id, ...aliases],
    externalId: id,
    title: (summary ?? id).trim().slice(0, 500).toWellFormed(),
    publisher: ownValue(publishers, prefixOf(id)),
    url: urlOf(entry),
    textUrl: part.url,
    publishTime: parseInstant(entry['published']) ?? parseInstant(entry['modified']),
    modifiedAt: parseInstant(entry['modified']),
    withdrawn: parseInstant(entry['withdrawn']) !== undefined,
    severity: judged.severity,
    severityRule: judged.rule,
    abstract: details ?? summary,
    summary: details && firstSentences(details, 3, 600),
    tldr: summary && firstSentences(summary, 1, 300),
    ...found.build(products.platforms()),
    affectedProducts: products.products(),
    iocs: emptyIocs(),
    storedText: text.text(),
    passages: text.passages(),
  };
}

const prefixOf = (id: string): string => id.split('-')[0]!.toUpperCase();

/** One CVE is the identity; with none or several it is the database's own id. */
function keyOf(id: string, aliases: string[]): string {
  if (cvePattern.test(id)) return `cve:${id}`;
  const cves = [...new Set(aliases.filter((alias) => cvePattern.test(alias)))];
  return cves.length === 1 ? `cve:${cves[0]}` : `adv:${prefixOf(id).toLowerCase()}:${id}`;
}

function severityOf(
  entry: JsonObject,
  specific: JsonObject,
): { cvss: NonNullable<ReturnType<typeof selectCvssScore>>[]; word: string | undefined } {
  const stated = [entry, ...asObjects(entry['affected'])].flatMap((one) => asObjects(one['severity']));
  const best = selectCvssScore(stated.map((one) => scoreCvssVector(asText(one['score']) ?? '')));
  const ubuntu = stated.find((one) => one['type'] === 'Ubuntu');
  return { cvss: best ? [best] : [], word: asText(specific['severity']) ?? asText(ubuntu?.['score']) };
}

function urlOf(entry: JsonObject): string | undefined {
  const references = asObjects(entry['references']).map(({ type, url }) => ({ type, url: asText(url) ?? '' }));
  const open = references.filter(({ url }) => /^https?:\/\//i.test(url) && url.length <= 2_000);
  return (open.find(({ type }) => type === 'ADVISORY') ?? open[0])?.url;
}
