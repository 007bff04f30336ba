import { fetchCsaf } from './fetch-csaf.ts';
import { readProviderDocument } from './provider-document.ts';
import { addAffectedProducts } from './csaf-products.ts';
import { createProductCollector } from '../../extraction/products/product-collector.ts';
import { createClassificationBuilder } from '../../extraction/classification-builder.ts';
import { selectCvssScore, scoreCvssVector, checkCvssScore, type CvssScore } from '../../extraction/cvss.ts';
import {
  isObject,
  asObjects,
  parseJsonBytes,
  asText,
  asTexts,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';
import { firstSentences } from '../../extraction/text/first-sentences.ts';
import { judgeSeverity } from '../../extraction/judge-severity.ts';
import { createStoredText } from '../../extraction/text/stored-text.ts';
import { findTlp } from '../../extraction/tlp.ts';
import { parseInstant, emptyIocs, type SourceRecord } from '../../model/source-record.ts';
import type { ParseResult, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { readParts } from '../read-parts.ts';

const vulnerabilitiesMax = 5_000;
const cvePattern = /^CVE-\d{4}-\d{4,19}$/;

/** Common Security Advisory Framework 2.0: a provider, a feed, a list, one document, or a directory of them. */
export const csaf: SourceFormat = {
  label: 'Security advisories (CSAF 2.0)',
  defaults: { reliability: 0.9, schedule: '0 * * * *' },
  fetch: fetchCsaf,
  digest: ([found]) => readProviderDocument(found!),
  parse: (parts, { reliability }) => readParts(parts, (part) => readPart(part, reliability)),
};

function readPart(part: SourceDocument, reliability: number): ParseResult {
  const whole = parseJsonBytes(part.bytes);
  const document = isObject(whole) && isObject(whole['document']) ? whole['document'] : undefined;
  if (!isObject(whole) || !document) throw new Error('the document is no CSAF advisory');
  const tracking = isObject(document['tracking']) ? document['tracking'] : {};
  const id = asText(tracking['id'])?.trim();
  const released = parseInstant(tracking['current_release_date']);
  if (!id || id.length > 200 || !released) throw new Error('the advisory has no tracking id and current release date');
  if (asObjects(whole['vulnerabilities']).length > vulnerabilitiesMax)
    throw new Error(`the advisory has more than ${vulnerabilitiesMax} vulnerabilities`);
  return { records: [readAdvisory({ id, released, whole, document, tracking, part }, reliability)], skipped: [] };
}

type Advisory = {
  id: string;
  released: string;
  whole: JsonObject;
  document: JsonObject;
  tracking: JsonObject;
  part: SourceDocument;
};

function readAdvisory({ id, released, whole, document, tracking, part }: Advisory, reliability: number): SourceRecord {
  const text = createStoredText();
  const spans = text.addFields(whole);
  const vulnerabilities = asObjects(whole['vulnerabilities']);
  const publisher = isObject(document['publisher']) ? document['publisher'] : {};
  const notes = asObjects(document['notes']);
  const about = notes.findIndex(({ category }) => category === 'summary' || category === 'description');
  const abstract = asText(notes[about]?.['text']);
  const proofs = [
    'document.title',
    `document.notes[${about}].text`,
    ...vulnerabilities.map((_, at) => `vulnerabilities[${at}].cve`),
  ];
  for (const path of proofs) if (spans.has(path)) text.addPassage(spans.get(path)!);
  const products = createProductCollector(reliability);
  addAffectedProducts(whole, products);
  const aggregate = isObject(document['aggregate_severity']) ? document['aggregate_severity'] : {};
  const judged = judgeSeverity({
    cvss: vulnerabilities.map(scoreOf).filter((score) => score !== undefined),
    word: asText(aggregate['text']),
    text: abstract ?? '',
    exploited: 'no',
  });
  const owner = ownerOf(publisher);
  return {
    recordId: `${owner}:${id}`,
    canonicalKey: `adv:${owner}:${id}`,
    externalId: id,
    title: (asText(document['title']) ?? id).trim().slice(0, 500).toWellFormed(),
    publisher: asText(publisher['name'])?.trim().slice(0, 200).toWellFormed(),
    language: asText(document['lang'])?.slice(0, 35),
    url: urlOf(document),
    textUrl: part.url,
    publishTime: parseInstant(tracking['initial_release_date']) ?? released,
    modifiedAt: changedAt(released, tracking),
    tlp: tlpOf(document),
    withdrawn: isWithdrawn(document, tracking),
    severity: judged.severity,
    severityRule: judged.rule,
    abstract,
    summary: abstract && firstSentences(abstract, 3, 600),
    tldr: abstract && firstSentences(abstract, 1, 300),
    ...classify({ id, tracking, vulnerabilities }, reliability).build(products.platforms()),
    affectedProducts: products.products(),
    iocs: emptyIocs(),
    storedText: text.text(),
    passages: text.passages(),
  };
}

function classify(
  { id, tracking, vulnerabilities }: { id: string; tracking: JsonObject; vulnerabilities: JsonObject[] },
  reliability: number,
): ReturnType<typeof createClassificationBuilder> {
  const found = createClassificationBuilder();
  for (const name of [id, ...asTexts(tracking['aliases'])])
    found.addMapping('observable:advisory', name.trim(), reliability);
  for (const vulnerability of vulnerabilities) {
    const cve = asText(vulnerability['cve'])?.trim().toUpperCase() ?? '';
    if (cvePattern.test(cve)) found.addMapping('cve', cve, reliability);
    const cwes = [vulnerability['cwe'], ...asObjects(vulnerability['cwes'])].filter(isObject);
    for (const cwe of cwes.map((one) => asText(one['id'])?.trim() ?? ''))
      if (/^CWE-\d+$/.test(cwe)) found.addMapping('cwe', cwe, reliability);
  }
  return found;
}

/** Two revisions of one day are told apart by how many there are, a millisecond each. */
function changedAt(released: string, tracking: JsonObject): string {
  const revisions = asObjects(tracking['revision_history']).length;
  return new Date(Date.parse(released) + Math.min(revisions, 1_000)).toISOString();
}

/** Who is responsible for the advisory's id: the namespace, by which the standard makes ids unique, else the name. */
function ownerOf(publisher: JsonObject): string {
  const namespace = asText(publisher['namespace'])?.trim() ?? '';
  if (URL.canParse(namespace) && new URL(namespace).hostname !== '')
    return new URL(namespace).hostname.replace(/^www\./, '');
  const name = (asText(publisher['name']) ?? '').toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
  return name.replaceAll(/^-|-$/g, '').slice(0, 100) || 'unknown';
}

/** The score of one vulnerability that counts, over all its products. */
function scoreOf(vulnerability: JsonObject): CvssScore | undefined {
  const contents = asObjects(vulnerability['metrics']).map((metric) => metric['content']);
  const scores = [...asObjects(vulnerability['scores']), ...contents.filter(isObject)];
  return selectCvssScore(
    scores.flatMap((score) =>
      [score['cvss_v4'], score['cvss_v3'], score['cvss_v2']]
        .filter(isObject)
        .map(
          (one) =>
            checkCvssScore(one['version'], one['baseScore']) ?? scoreCvssVector(asText(one['vectorString']) ?? ''),
        ),
    ),
  );
}

function urlOf(document: JsonObject): string | undefined {
  const own = asObjects(document['references'])
    .filter(({ category }) => category === 'self')
    .map(({ url }) => asText(url) ?? '')
    .filter((url) => /^https?:\/\//i.test(url) && url.length <= 2_000);
  return own.toReversed().find((url) => !/\.(?:json|pdf|txt)$/i.test(url)) ?? own[0];
}

function tlpOf(document: JsonObject): SourceRecord['tlp'] {
  const distribution = isObject(document['distribution']) ? document['distribution'] : {};
  const tlp = isObject(distribution['tlp']) ? distribution['tlp'] : {};
  return findTlp(asText(tlp['label']) ?? '');
}

/** CSAF 2.1 has a category for it; in 2.0 the newest revision or the title says so. */
function isWithdrawn(document: JsonObject, tracking: JsonObject): boolean {
  if (/^csaf_(?:withdrawn|superseded)$/.test(asText(document['category']) ?? '')) return true;
  const revisions = asObjects(tracking['revision_history']);
  const latest = revisions
    .toSorted((a, b) => ((parseInstant(a['date']) ?? '') < (parseInstant(b['date']) ?? '') ? -1 : 1))
    .at(-1);
  const notice = asText(latest?.['summary']) ?? '';
  return (
    /^\W*(?:withdrawn|retracted)\W*[:\]–-]|[([](?:withdrawn|retracted)[)\]]\s*$/i.test(
      asText(document['title']) ?? '',
    ) ||
    /^\W*(?:withdrawn|retracted)\b|\b(?:advisory|document|bulletin) (?:has been |was |is )?(?:withdrawn|retracted|revoked)\b/i.test(
      notice,
    )
  );
}
