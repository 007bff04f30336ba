import { createClassificationBuilder, inferPlatforms } from '../../extraction/classification-builder.ts';
import { isObject, asObjects, asScalarText, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { locateValue } from '../../extraction/text/locate-value.ts';
import { judgeSeverity } from '../../extraction/judge-severity.ts';
import { createStatementCollector } from '../../extraction/indicator-statements.ts';
import { createStoredText, valueMaxChars } from '../../extraction/text/stored-text.ts';
import { parseInstant, type SourceRecord } from '../../model/source-record.ts';
import { findPlatform } from '../../model/platforms.ts';
import { bucketByType } from '../../model/vocabulary.ts';
import { listAttributes, type EventAttribute } from './misp-attributes.ts';
import { classifyCluster, listClusters, readTaxonomyTags, findTlpTag } from './misp-tags.ts';
import { toObservables } from './misp-types.ts';

/** What is not meant for detection, only context, is worth half. */
const contextWorth = 0.5;
const levels = new Map([
  ['1', 'high'],
  ['2', 'medium'],
  ['3', 'low'],
  ['4', 'none'],
]);

/** The record of one event of MISP. `id` is its uuid. */
export function readEvent(
  id: string,
  event: JsonObject,
  { url, reliability }: { url: string | undefined; reliability: number },
): SourceRecord {
  const text = createStoredText();
  // Files that are attached come as text of megabytes.
  const spans = text.addFields(event, { leaveOut: (path) => path.endsWith('.data') });
  const whole = text.text();
  if (spans.has('info')) text.addPassage(spans.get('info')!);
  const found = createClassificationBuilder();
  const statements = createStatementCollector();
  const publishTime = parseInstant(asText(event['date'])) ?? parseEpochSeconds(event['timestamp']);
  const withdrawn = isSet(event['deleted']);
  const attributes = listAttributes(event);
  for (const { holder, prefix } of [{ holder: event, prefix: '' }, ...attributes]) {
    for (const { cluster, path } of listClusters(holder)) {
      const span = spans.get(`${prefix}${path}`);
      classifyCluster(found, cluster, {
        sure: reliability,
        evidence: () => text.addPassage(span ?? spans.values().next().value!),
      });
    }
  }
  for (const attribute of attributes) readAttribute(attribute, { statements, found, reliability, withdrawn, prove });
  for (const { framework, id: name, confidence } of statements.mappings) found.addMapping(framework, name, confidence);
  const iocs = statements.iocs(publishTime);
  const info = asText(event['info'])?.trim() ?? id;
  const judged = judgeSeverity({
    word: levels.get(asScalarText(event['threat_level_id'])),
    text: info,
    exploited: 'no',
  });
  const owner = isObject(event['Orgc']) ? asText(event['Orgc']['name']) : undefined;
  const seen = attributes.map(({ holder }) => parseInstant(holder['first_seen'])).filter((time) => time !== undefined);
  return {
    recordId: id,
    canonicalKey: `uuid:${id}`,
    externalId: id,
    title: info.slice(0, 500).toWellFormed(),
    publisher: owner?.trim().slice(0, 200).toWellFormed(),
    url: linkOf(attributes),
    textUrl: url,
    publishTime,
    modifiedAt: parseEpochSeconds(event['timestamp']),
    tlp: findTlpTag([event, ...attributes.map(({ holder }) => holder)]),
    withdrawn,
    severity: judged.severity,
    severityRule: judged.rule === 'source' ? 'source:misp-threat-level' : judged.rule,
    eventFirstSeen: seen.toSorted()[0],
    ...found.build([...inferPlatforms(iocs), ...statedPlatforms(event)]),
    affectedProducts: [],
    iocs,
    storedText: whole,
    passages: text.passages(),
  };

  function prove({ prefix }: EventAttribute, value: string): void {
    const at = spans.get(`${prefix}value`);
    const span = at && locateValue(whole, at, value);
    if (span) text.addPassage(span, valueMaxChars);
  }
}

type Reading = {
  statements: ReturnType<typeof createStatementCollector>;
  found: ReturnType<typeof createClassificationBuilder>;
  reliability: number;
  withdrawn: boolean;
  prove: (attribute: EventAttribute, value: string) => void;
};

function readAttribute(attribute: EventAttribute, { statements, found, reliability, withdrawn, prove }: Reading): void {
  const { holder, relation } = attribute;
  const [type, value] = [asText(holder['type'])?.trim(), asText(holder['value'])];
  if (!type || !value) return;
  if (type === 'vulnerability' && /^CVE-\d{4}-\d{4,19}$/i.test(value.trim()))
    found.addMapping('cve', value.trim().toUpperCase(), reliability);
  if (type === 'weakness' && /^CWE-\d+$/i.test(value.trim()))
    found.addMapping('cwe', value.trim().toUpperCase(), reliability);
  const judged = readTaxonomyTags(holder);
  const sightings = asObjects(holder['Sighting']);
  const seen = sightings
    .filter((one) => asScalarText(one['type']) === '0')
    .map((one) => parseEpochSeconds(one['date_sighting']));
  const lastSeen = [parseInstant(holder['last_seen']), ...seen].filter((time) => time !== undefined).toSorted();
  const statement = {
    confidence: judged.confidence ?? reliability * (isSet(holder['to_ids']) ? 1 : contextWorth),
    firstSeen: parseInstant(holder['first_seen']),
    lastSeen: lastSeen.at(-1),
    revoked: withdrawn || isSet(holder['deleted']) || attribute.deleted,
    falsePositive: judged.falsePositive || sightings.some((one) => asScalarText(one['type']) === '1'),
    phishing: judged.phishing,
  };
  for (const observable of toObservables(type, value, relation)) {
    const isCert = observable.kind === 'indicator' && bucketByType[observable.type] === 'certs';
    statements.state(observable, isCert ? { ...statement, until: attribute.validUntil } : statement);
    if (observable.kind === 'indicator') prove(attribute, observable.value);
  }
}

/** The published article that the event stands for. */
const linkOf = (attributes: EventAttribute[]): string | undefined =>
  attributes
    .filter(
      ({ holder }) =>
        holder['type'] === 'link' || (holder['type'] === 'url' && holder['category'] === 'External analysis'),
    )
    .map(({ holder }) => asText(holder['value'])?.trim() ?? '')
    .find((value) => /^https?:\/\//i.test(value) && value.length <= 2_000);

/** Tags such as `ms-caro-malware:malware-platform="Win32"` or `osint:…` aside, those that name a platform by its word. */
const statedPlatforms = (event: JsonObject) =>
  asObjects(event['Tag'])
    .map((tag) => /platform(?:-type)?="([^"]{1,40})"$/i.exec(asText(tag['name']) ?? '')?.[1])
    .map((word) => (word === undefined ? undefined : findPlatform(word)))
    .filter((platform) => platform !== undefined);

const isSet = (value: unknown): boolean => value === true || value === 1 || value === '1';

/** MISP writes times as seconds since 1970, in text or number; 0 is none. */
export function parseEpochSeconds(value: unknown): string | undefined {
  const seconds = typeof value === 'number' ? value : /^\d{1,11}$/.test(asText(value) ?? '') ? Number(value) : 0;
  return seconds > 0 && seconds < 8e10 ? new Date(seconds * 1000).toISOString() : undefined;
}
