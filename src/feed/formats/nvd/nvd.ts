import { createProductCollector } from '../../extraction/products/product-platforms.ts';
import { createClassificationBuilder } from '../../extraction/classification-builder.ts';
import { selectCvssScore, scoreCvssVector, checkCvssScore, type CvssScore } from '../../extraction/cvss.ts';
import {
  asObject,
  asObjects,
  asText,
  isObject,
  parseJsonBytes,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';
import { judgeSeverity } from '../../extraction/severity/judge-severity.ts';
import { addConfiguredProducts, draftCveRecord, isCveRecord, readCveRecordId } from './cve-record.ts';
import { parseInstant, type SourceRecord } from '../../model/source-record.ts';
import type { DraftResult, ParseContext, RecordDraft, SourceFormat } from '../source-format.ts';
import type { SourceDocument, DigestInput, FetchSession, FetchSessionResult } from '../fetch-session.ts';
import { draftParts, toParse, unzipPart } from '../read-parts.ts';
import { clip, cvePattern, cwePattern, storeFields, toVulnerabilityFields } from '../record-fields.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const rowsMax = 20_000;
const zipBounds = { entriesMax: 20_000, entryMaxBytes: 64 * 1024 * 1024, totalMaxBytes: 128 * 1024 * 1024 };
/** The CVE list also has index files. */
const fileNames = /(?:^|\/)(?:CVE-\d{4}-\d+|nvdcve[^/]*)\.json$/i;
const metricNames = ['cvssMetricV40', 'cvssMetricV31', 'cvssMetricV30', 'cvssMetricV2'];

/** The National Vulnerability Database: the CVE API 2.0, or files with its pages or with records of the CVE list, also in a zip archive. */
export const nvd: SourceFormat = {
  label: 'National Vulnerability Database (NVD, CVE API 2.0)',
  files: /\.json(?:\.gz)?$|\.zip$/i,
  defaults: { publisher: 'NVD', tlp: 'CLEAR', language: 'en', reliability: 0.9, schedule: '30 */2 * * *' },
  // A file is not the API.
  fetch: (session) => (/\.(?:json|zip)(?:\.gz)?$/i.test(new URL(session.url).pathname) ? undefined : fetchNvd(session)),
  digest: ([page]) => digestNvdPage(page!),
  parse: toParse(draftPages),
  draft: draftPages,
};

function draftPages(parts: SourceDocument[], { reliability }: ParseContext): DraftResult {
  const files = parts.flatMap((part) => unzipPart(part, fileNames, zipBounds));
  return draftParts(files, (part) => draftPage(part, reliability));
}

function draftPage(part: SourceDocument, reliability: number): DraftResult {
  const drafted: DraftResult = { drafts: [], skipped: [] };
  for (const { id, entry, draft } of listEntries(part, { url: part.url, reliability }))
    if (id && cvePattern.test(id)) drafted.drafts.push(draft(id));
    else drafted.skipped.push({ entry, reason: 'no valid CVE id' });
  return drafted;
}

/** A vulnerability of a document. `entry` identifies it in the list of skipped entries. */
type PageEntry = { id: string | undefined; entry: string; draft: (id: string) => RecordDraft };

/** Returns the records of the CVE list that a document contains, or the rows of a page of NVD. */
function listEntries(part: SourceDocument, context: CveContext): PageEntry[] {
  const document = parseJsonBytes(part.bytes);
  const records = (Array.isArray(document) ? document : [document]).filter(isObject).filter(isCveRecord);
  if (records.length > 0)
    return records.map((record, index) => ({
      id: readCveRecordId(record),
      entry: `${part.name}: ${index}`,
      draft: (id) => draftCveRecord(id, record, context),
    }));
  const { vulnerabilities: rows, CVE_Items: oldRows, data_format: oldFormat } = asObject(document);
  if (oldRows !== undefined || oldFormat === 'MITRE')
    throw new ExternalError(
      'the document is NVD JSON 1.1 or CVE JSON 4, which are retired: use NVD JSON 2.0 or CVE records of format 5',
    );
  if (!Array.isArray(rows)) throw new ExternalError('the document has no list "vulnerabilities"');
  if (rows.length > rowsMax) throw new ExternalError(`the page has more than ${rowsMax} rows`);
  return rows.map((row, index) => {
    const cve = asObject(asObject(row)['cve']);
    const id = asText(cve['id'])?.trim();
    const entry = id?.slice(0, 100) ?? `${part.name}: vulnerabilities/${index}`;
    return { id, entry, draft: (cveId) => draftCve(cveId, cve, context) };
  });
}

type CveContext = { url: string | undefined; reliability: number };

function draftCve(id: string, cve: JsonObject, context: CveContext): RecordDraft {
  const times = { publishTime: parseInstant(cve['published']), modifiedAt: parseInstant(cve['lastModified']) };
  return { recordId: id, ...times, build: () => toCveRecord(id, cve, { ...context, ...times }) };
}

function toCveRecord(
  id: string,
  cve: JsonObject,
  { url, reliability, publishTime, modifiedAt }: CveContext & Pick<RecordDraft, 'publishTime' | 'modifiedAt'>,
): SourceRecord {
  const descriptions = asObjects(cve['descriptions']);
  const englishIndex = descriptions.findIndex(({ lang }) => lang === 'en');
  const description = asText(descriptions[englishIndex]?.['value']);
  const text = storeFields(cve, ['id', `descriptions[${englishIndex}].value`, 'vulnStatus']);
  const products = createProductCollector(reliability);
  addConfiguredProducts(cve, products);
  const classification = createClassificationBuilder();
  classification.addMapping('cve', id, reliability);
  for (const { value } of asObjects(cve['weaknesses']).flatMap((weakness) => asObjects(weakness['description'])))
    if (cwePattern.test(asText(value) ?? '')) classification.addMapping('cwe', asText(value)!, reliability);
  const score = findScore(cve);
  const rating = judgeSeverity({
    cvss: score ? [score] : [],
    text: description ?? '',
    exploited: asText(cve['cisaExploitAdd']) ? 'listed' : 'no',
  });
  const fields = toVulnerabilityFields(description, rating, text);
  return {
    ...fields,
    recordId: id,
    canonicalKey: `cve:${id}`,
    externalId: id,
    title: clip(asText(cve['cisaVulnerabilityName']) ?? fields.tldr ?? id, 500),
    url: `https://nvd.nist.gov/vuln/detail/${id}`,
    textUrl: url,
    publishTime,
    modifiedAt,
    withdrawn: /^rejected$/i.test(asText(cve['vulnStatus']) ?? ''),
    ...classification.build(products.platforms()),
    affectedProducts: products.products(),
  };
}

/** Returns the deciding score. For each CVSS version, the score of NVD's own analysts precedes those of others. */
function findScore(cve: JsonObject): CvssScore | undefined {
  const metrics = asObject(cve['metrics']);
  const chosen = metricNames.flatMap((name) => {
    const stated = asObjects(metrics[name]);
    const primary = stated.filter(({ type }) => type === 'Primary');
    return primary.length > 0 ? primary : stated;
  });
  return selectCvssScore(
    chosen.map(({ cvssData }) => {
      const { version, baseScore, vectorString } = asObject(cvssData);
      return checkCvssScore(version, baseScore) ?? scoreCvssVector(asText(vectorString) ?? '');
    }),
  );
}

const dayMs = 24 * 3_600_000;
/** The longest range that the service accepts (NVD CVE API 2.0, lastModStartDate). */
const rangeMaxMs = 120 * dayMs;
/** The service publishes changes some time after their own timestamp. */
const overlapMs = 2 * 3_600_000;
// The service allows 5 requests in 30 seconds, or 50 with a key.
const requestIntervalMs = { withoutKey: 6_000, withKey: 600 };
const pageSize = '2000';

/** The start of the unread time and, within a range, the progress of the last pull. */
type NvdCursor = { from: string; to?: string; startIndex?: number; total?: number };

/**
 * Fetches the changes since the last pull page by page, in ranges of at most 120 days. The first pull fetches the last 120 days. Query
 * parameters of the source's address restrict the result. The next pull continues a range that the bounds of this one cut.
 */
async function fetchNvd(session: FetchSession): Promise<FetchSessionResult> {
  const now = session.now.getTime();
  let cursor = (session.cursor as NvdCursor | undefined) ?? { from: new Date(now - rangeMaxMs).toISOString() };
  const parts: SourceDocument[] = [];
  for (let requests = 0; ; requests += 1) {
    const to = cursor.to ?? new Date(Math.min(now, Date.parse(cursor.from) + rangeMaxMs)).toISOString();
    const startIndex = cursor.startIndex ?? 0;
    if (requests > 0) await session.pause(requestIntervalMs[session.hasCredential ? 'withKey' : 'withoutKey']);
    if (!session.hasRoom())
      return { parts, cursor: { ...cursor, to, startIndex }, unchanged: 0, skipped: [], more: true };
    const page = await fetchPage(session, { from: cursor.from, to, startIndex });
    if (page.count > 0) parts.push(page.part);
    // A record that changes during the pull leaves the range, and the following records move up.
    const removed = Math.max(0, (cursor.total ?? page.total) - page.total);
    const next = removed > 0 ? Math.max(0, startIndex - removed) : startIndex + page.count;
    if (page.count + removed > 0 && next < page.total)
      cursor = { from: cursor.from, to, startIndex: next, total: page.total };
    else if (Date.parse(to) < now) cursor = { from: to };
    else break;
  }
  return { parts, cursor: { from: new Date(now - overlapMs).toISOString() }, unchanged: 0, skipped: [], more: false };
}

async function fetchPage(
  session: FetchSession,
  { from, to, startIndex }: { from: string; to: string; startIndex: number },
): Promise<NvdPageDigest & { part: SourceDocument }> {
  const url = new URL(session.url);
  url.searchParams.set('lastModStartDate', from);
  url.searchParams.set('lastModEndDate', to);
  url.searchParams.set('startIndex', String(startIndex));
  if (!url.searchParams.has('resultsPerPage')) url.searchParams.set('resultsPerPage', pageSize);
  const fetched = (await session.fetch(url.href, { accept: 'application/json' }))!;
  const digest = (await session.digest([fetched])) as NvdPageDigest;
  return { ...digest, part: { name: `${from} ${startIndex}`, bytes: fetched.bytes } };
}

/** The number of records on a page and in its range. */
type NvdPageDigest = { count: number; total: number };

/** Throws an Error if the document is not a page of the API. */
function digestNvdPage({ bytes }: DigestInput): NvdPageDigest {
  const { vulnerabilities, totalResults: total } = asObject(parseJsonBytes(bytes));
  if (!Array.isArray(vulnerabilities) || typeof total !== 'number')
    throw new ExternalError('the response is not a page of the CVE API');
  return { count: vulnerabilities.length, total };
}
