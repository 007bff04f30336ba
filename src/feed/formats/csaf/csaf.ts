import { toPublisherHost, parseInstant, type SourceRecord } from '../../model/source-record.ts';
import { fetchCsaf, readProviderDocument } from './fetch-csaf.ts';
import { addAffectedProducts } from './csaf-products.ts';
import { createProductCollector } from '../../extraction/products/product-platforms.ts';
import { createClassificationBuilder, type ClassificationBuilder } from '../../extraction/classification-builder.ts';
import { selectCvssScore, scoreCvssVector, checkCvssScore, type CvssScore } from '../../extraction/cvss.ts';
import {
  asObject,
  asObjects,
  asText,
  asTexts,
  isObject,
  parseJsonBytes,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';
import { judgeSeverity } from '../../extraction/severity/judge-severity.ts';
import { findTlp } from '../../model/vocabulary.ts';
import { isMarkedRetracted } from '../../model/retraction-marks.ts';
import type { DraftResult, ParseContext, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../fetch-session.ts';
import { draftParts, toParse } from '../read-parts.ts';
import { clip, cvePattern, cwePattern, isWebLink, storeFields, toVulnerabilityFields } from '../record-fields.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const vulnerabilitiesMax = 5_000;

/** Common Security Advisory Framework 2.0: a provider, a feed, a list, a document, or a directory of documents. */
export const csaf: SourceFormat = {
  label: 'Security advisories (CSAF 2.0)',
  defaults: { reliability: 0.9, schedule: '0 * * * *' },
  fetch: fetchCsaf,
  digest: ([fetched]) => readProviderDocument(fetched!),
  parse: toParse(draftAdvisories),
  draft: draftAdvisories,
};

function draftAdvisories(parts: SourceDocument[], { reliability }: ParseContext): DraftResult {
  return draftParts(parts, (part) => draftAdvisory(part, reliability));
}

function draftAdvisory(part: SourceDocument, reliability: number): DraftResult {
  const whole = parseJsonBytes(part.bytes);
  if (!isObject(whole) || !isObject(whole['document'])) throw new ExternalError('the document is not a CSAF advisory');
  const document = whole['document'];
  const tracking = asObject(document['tracking']);
  const id = asText(tracking['id'])?.trim();
  const released = parseInstant(tracking['current_release_date']);
  if (!id || id.length > 200 || !released)
    throw new ExternalError('the advisory has no valid tracking id or no current release date');
  const vulnerabilities = asObjects(whole['vulnerabilities']);
  if (vulnerabilities.length > vulnerabilitiesMax)
    throw new ExternalError(`the advisory has more than ${vulnerabilitiesMax} vulnerabilities`);
  const namespace = toNamespace(asObject(document['publisher']));
  const times = {
    publishTime: parseInstant(tracking['initial_release_date']) ?? released,
    modifiedAt: toModifiedTime(released, tracking),
  };
  const advisory: Advisory = { id, namespace, ...times, whole, document, tracking, vulnerabilities, url: part.url };
  const build = (): SourceRecord => toAdvisoryRecord(advisory, reliability);
  return { drafts: [{ recordId: `${namespace}:${id}`, ...times, build }], skipped: [] };
}

type Advisory = {
  id: string;
  namespace: string;
  publishTime: string;
  modifiedAt: string;
  whole: JsonObject;
  document: JsonObject;
  tracking: JsonObject;
  vulnerabilities: JsonObject[];
  url: string | undefined;
};

function toAdvisoryRecord(advisory: Advisory, reliability: number): SourceRecord {
  const { id, namespace, publishTime, modifiedAt, whole, document, tracking, vulnerabilities, url } = advisory;
  const publisher = asObject(document['publisher']);
  const notes = asObjects(document['notes']);
  const { description, path } = findDescription(notes, vulnerabilities);
  const text = storeFields(whole, [
    'document.title',
    path,
    ...vulnerabilities.map((_, index) => `vulnerabilities[${index}].cve`),
  ]);
  const products = createProductCollector(reliability);
  addAffectedProducts(whole, products);
  const present = vulnerabilities.filter((vulnerability) => !isNotAffected(vulnerability));
  const rating = judgeSeverity({
    cvss: present.flatMap((vulnerability) => findScore(vulnerability) ?? []),
    word: asText(asObject(document['aggregate_severity'])['text']) ?? findImpactWord(present),
    text: description ?? '',
    exploited: 'no',
  });
  return {
    ...toVulnerabilityFields(description, rating, text),
    recordId: `${namespace}:${id}`,
    canonicalKey: `adv:${namespace}:${id}`,
    externalId: id,
    title: clip(asText(document['title']) ?? id, 500),
    publisher: asText(publisher['name'])?.trim().slice(0, 200).toWellFormed(),
    language: asText(document['lang'])?.slice(0, 35),
    url: findUrl(document),
    textUrl: url,
    publishTime,
    modifiedAt,
    tlp: findTlp(asText(asObject(asObject(document['distribution'])['tlp'])['label']) ?? ''),
    withdrawn: isWithdrawn(document, tracking),
    ...classify(advisory, reliability).build(products.platforms()),
    affectedProducts: products.products(),
  };
}

/** Returns the description of the document or, as in VEX documents, of its first vulnerability, and its path. */
function findDescription(
  notes: JsonObject[],
  vulnerabilities: JsonObject[],
): { description: string | undefined; path: string } {
  const isDescription = ({ category, text }: JsonObject): boolean =>
    (category === 'summary' || category === 'description') && asText(text) !== undefined;
  const index = notes.findIndex(isDescription);
  if (index >= 0) return { description: asText(notes[index]!['text']), path: `document.notes[${index}].text` };
  const own = asObjects(vulnerabilities[0]?.['notes']);
  const byCategory = ['description', 'summary'].map((name) => own.findIndex(({ category }) => category === name));
  const ownIndex = byCategory.find((found) => found >= 0) ?? -1;
  return { description: asText(own[ownIndex]?.['text']), path: `vulnerabilities[0].notes[${ownIndex}].text` };
}

/** Returns whether a VEX document says that no product has the vulnerability. */
function isNotAffected(vulnerability: JsonObject): boolean {
  const stated = Object.entries(asObject(vulnerability['product_status'])).filter(([, ids]) => asTexts(ids).length > 0);
  return stated.length > 0 && stated.every(([status]) => status === 'known_not_affected');
}

const impactWords = ['critical', 'important', 'high', 'moderate', 'medium', 'low'];

/** Returns the highest severity that vulnerabilities without a score state as their impact. Other impacts are consequences. */
function findImpactWord(vulnerabilities: JsonObject[]): string | undefined {
  const impacts = vulnerabilities
    .flatMap((vulnerability) => asObjects(vulnerability['threats']))
    .filter(({ category }) => category === 'impact')
    .map(({ details }) => asText(details)?.trim().toLowerCase() ?? '');
  return impactWords.find((word) => impacts.includes(word));
}

function classify({ id, tracking, vulnerabilities }: Advisory, reliability: number): ClassificationBuilder {
  const classification = createClassificationBuilder();
  for (const name of [id, ...asTexts(tracking['aliases'])])
    classification.addMapping('observable:advisory', name.trim(), reliability);
  for (const vulnerability of vulnerabilities) {
    const cve = asText(vulnerability['cve'])?.trim().toUpperCase() ?? '';
    if (cvePattern.test(cve)) classification.addMapping('cve', cve, reliability);
    for (const { id: cwe } of [asObject(vulnerability['cwe']), ...asObjects(vulnerability['cwes'])]) {
      const cweId = asText(cwe)?.trim() ?? '';
      if (cwePattern.test(cweId)) classification.addMapping('cwe', cweId, reliability);
    }
  }
  return classification;
}

/** Adds a millisecond per revision to the release date, so that two revisions of one day differ. */
function toModifiedTime(released: string, tracking: JsonObject): string {
  const revisions = asObjects(tracking['revision_history']).length;
  return new Date(Date.parse(released) + Math.min(revisions, 1_000)).toISOString();
}

/** Returns the host of the publisher's namespace, within which the standard makes ids unique, or the publisher's name. */
function toNamespace(publisher: JsonObject): string {
  const host = toPublisherHost(asText(publisher['namespace'])?.trim());
  if (host) return host;
  const name = (asText(publisher['name']) ?? '').toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
  return name.replaceAll(/^-|-$/g, '').slice(0, 100) || 'unknown';
}

/** Returns the deciding score of a vulnerability across all its products. */
function findScore(vulnerability: JsonObject): CvssScore | undefined {
  const contents = asObjects(vulnerability['metrics']).map((metric) => asObject(metric['content']));
  const scores = [...asObjects(vulnerability['scores']), ...contents].flatMap((score) =>
    [score['cvss_v4'], score['cvss_v3'], score['cvss_v2']].filter(isObject),
  );
  return selectCvssScore(
    scores.map(
      ({ version, baseScore, vectorString }) =>
        checkCvssScore(version, baseScore) ?? scoreCvssVector(asText(vectorString) ?? ''),
    ),
  );
}

/** Returns the advisory's own address, preferably that of its web page. */
function findUrl(document: JsonObject): string | undefined {
  const urls = asObjects(document['references'])
    .filter(({ category }) => category === 'self')
    .map(({ url }) => asText(url) ?? '')
    .filter(isWebLink);
  return urls.toReversed().find((url) => !/\.(?:json|pdf|txt)$/i.test(url)) ?? urls[0];
}

/**
 * Returns whether a document is withdrawn. CSAF 2.1 has a category for withdrawn documents. In 2.0 the title or the newest revision states
 * it.
 */
function isWithdrawn(document: JsonObject, tracking: JsonObject): boolean {
  if (/^csaf_(?:withdrawn|superseded)$/.test(asText(document['category']) ?? '')) return true;
  const latest = asObjects(tracking['revision_history'])
    .toSorted((a, b) => ((parseInstant(a['date']) ?? '') < (parseInstant(b['date']) ?? '') ? -1 : 1))
    .at(-1);
  return (
    isMarkedRetracted(asText(document['title']) ?? '') ||
    /^\W*(?:withdrawn|retracted)\b|\b(?:advisory|document|bulletin) (?:has been |was |is )?(?:withdrawn|retracted|revoked)\b/i.test(
      asText(latest?.['summary']) ?? '',
    )
  );
}
