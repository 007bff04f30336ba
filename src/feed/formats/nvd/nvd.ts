import { createProductCollector } from '../../extraction/products/product-collector.ts';
import { createClassificationBuilder } from '../../extraction/classification-builder.ts';
import { selectCvssScore, scoreCvssVector, checkCvssScore, type CvssScore } from '../../extraction/cvss.ts';
import {
  isObject,
  asObjects,
  parseJsonBytes,
  asText,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';
import { firstSentences } from '../../extraction/text/first-sentences.ts';
import { judgeSeverity } from '../../extraction/judge-severity.ts';
import { createStoredText } from '../../extraction/text/stored-text.ts';
import { fetchNvd, digestNvdPage } from './fetch-nvd.ts';
import { addConfiguredProducts } from './cpe.ts';
import { parseInstant, emptyIocs, type SourceRecord } from '../../model/source-record.ts';
import type { ParseResult, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { readParts } from '../read-parts.ts';

const idPattern = /^CVE-\d{4}-\d{4,19}$/;
const rowsMax = 20_000;
const metricNames = ['cvssMetricV40', 'cvssMetricV31', 'cvssMetricV30', 'cvssMetricV2'];

/** The National Vulnerability Database, CVE API 2.0, or pages of it in files. */
export const nvd: SourceFormat = {
  label: 'National Vulnerability Database (NVD, CVE API 2.0)',
  defaults: {
    publisher: 'NVD',
    tlp: 'CLEAR',
    language: 'en',
    reliability: 0.9,
    schedule: '30 */2 * * *',
  },
  fetch: fetchNvd,
  digest: ([page]) => digestNvdPage(page!),
  parse: (parts, { reliability }) => readParts(parts, (part) => readPage(part, reliability)),
};

function readPage(part: SourceDocument, reliability: number): ParseResult {
  const page = parseJsonBytes(part.bytes);
  const rows: unknown = isObject(page) ? page['vulnerabilities'] : undefined;
  if (!Array.isArray(rows)) throw new Error('the document has no list "vulnerabilities"');
  if (rows.length > rowsMax) throw new Error(`the page has more than ${rowsMax} rows`);
  const parsed: ParseResult = { records: [], skipped: [] };
  for (const [index, row] of rows.entries()) {
    const cve: unknown = isObject(row) ? row['cve'] : undefined;
    const id = isObject(cve) ? asText(cve['id'])?.trim() : undefined;
    if (isObject(cve) && id && idPattern.test(id)) parsed.records.push(readCve(id, cve, { part, reliability }));
    else
      parsed.skipped.push({
        entry: id?.slice(0, 100) ?? `${part.name}: vulnerabilities/${index}`,
        reason: 'no valid CVE id',
      });
  }
  return parsed;
}

function readCve(
  id: string,
  cve: JsonObject,
  { part, reliability }: { part: SourceDocument; reliability: number },
): SourceRecord {
  const text = createStoredText();
  const spans = text.addFields(cve);
  const descriptions = asObjects(cve['descriptions']);
  const english = descriptions.findIndex(({ lang }) => lang === 'en');
  const description = asText(descriptions[english]?.['value']);
  for (const path of ['id', `descriptions[${english}].value`, 'vulnStatus'])
    if (spans.has(path)) text.addPassage(spans.get(path)!);
  const products = createProductCollector(reliability);
  addConfiguredProducts(cve, products);
  const found = createClassificationBuilder();
  found.addMapping('cve', id, reliability);
  for (const { value } of asObjects(cve['weaknesses']).flatMap((weakness) => asObjects(weakness['description'])))
    if (/^CWE-\d+$/.test(asText(value) ?? '')) found.addMapping('cwe', asText(value)!, reliability);
  const score = scoreOf(cve);
  const judged = judgeSeverity({
    cvss: score ? [score] : [],
    text: description ?? '',
    exploited: asText(cve['cisaExploitAdd']) ? 'listed' : 'no',
  });
  const sentence = description && firstSentences(description, 1, 300);
  return {
    recordId: id,
    canonicalKey: `cve:${id}`,
    externalId: id,
    title: (asText(cve['cisaVulnerabilityName']) ?? sentence ?? id).trim().slice(0, 500).toWellFormed(),
    url: `https://nvd.nist.gov/vuln/detail/${id}`,
    textUrl: part.url,
    publishTime: parseInstant(cve['published']),
    modifiedAt: parseInstant(cve['lastModified']),
    withdrawn: /^rejected$/i.test(asText(cve['vulnStatus']) ?? ''),
    severity: judged.severity,
    severityRule: judged.rule,
    abstract: description,
    summary: description && firstSentences(description, 3, 600),
    tldr: sentence,
    ...found.build(products.platforms()),
    affectedProducts: products.products(),
    iocs: emptyIocs(),
    storedText: text.text(),
    passages: text.passages(),
  };
}

/** Its own analysts' score of a version of CVSS counts before that of others. */
function scoreOf(cve: JsonObject): CvssScore | undefined {
  const metrics = isObject(cve['metrics']) ? cve['metrics'] : {};
  const chosen = metricNames.flatMap((name) => {
    const stated = asObjects(metrics[name]);
    const primary = stated.filter(({ type }) => type === 'Primary');
    return primary.length > 0 ? primary : stated;
  });
  return selectCvssScore(
    chosen.map(({ cvssData }) =>
      isObject(cvssData)
        ? (checkCvssScore(cvssData['version'], cvssData['baseScore']) ??
          scoreCvssVector(asText(cvssData['vectorString']) ?? ''))
        : undefined,
    ),
  );
}
