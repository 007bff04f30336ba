import {
  createClassificationBuilder,
  inferPlatforms,
  type ClassificationBuilder,
} from '../../extraction/classification-builder.ts';
import { asObject, asObjects, asScalarText, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { locateValue } from '../../extraction/text/locate-value.ts';
import { judgeSeverity } from '../../extraction/severity/judge-severity.ts';
import { addProseNames } from '../../extraction/names/add-prose-names.ts';
import { findTaggedName } from '../../extraction/names/dictionary/resolve-name.ts';
import { createStatementCollector, type IndicatorStatement } from '../../extraction/indicator-statements.ts';
import { createStoredText, valueMaxChars, type Span, type StoredText } from '../../extraction/text/stored-text.ts';
import { parseInstant, type SourceRecord } from '../../model/source-record.ts';
import { findTechnique } from '../../reference-data/attack.ts';
import { findPlatform } from '../../model/platforms.ts';
import type { ParseContext } from '../source-format.ts';
import { addEventReports, addProse, findReportName, findDescription, type EventDescription } from './event-text.ts';
import {
  isSet,
  listAttributes,
  readAttributeValue,
  type EventAttribute,
  findNamedKind,
  findNotedType,
  toObservables,
} from './misp-attributes.ts';
import { classifyCluster, findSeverityTag, findTlpTag, listClusters, readTaxonomyTags } from './misp-tags.ts';
import { createObservable } from '../../extraction/observable.ts';
import { clip, cvePattern, cwePattern, describe, describeIndicators, isWebLink } from '../record-fields.ts';
import { indicatorTypes } from '../../model/values/indicator-types.ts';

/** The share of confidence for attributes that are context and not meant for detection. */
const contextFactor = 0.5;
const severityByThreatLevel = new Map([
  ['1', 'high'],
  ['2', 'medium'],
  ['3', 'low'],
  ['4', 'none'],
]);

/** Returns the record of a MISP event. `id` is its UUID. */
export function toEventRecord(
  id: string,
  event: JsonObject,
  { url, reliability, lists }: ParseContext & { url: string | undefined },
): SourceRecord {
  const stored = storeEvent(event);
  const attributes = listAttributes(event);
  const description = findDescription(event, attributes, stored.spans);
  const { iocs, classification, attackPath } = readEvent({
    event,
    attributes,
    description,
    stored,
    reliability,
    lists,
  });
  const [publishTime] = findEventTimes(event);
  const info =
    asText(event['info'])?.trim() ?? findReportName(event) ?? describeIndicators(iocs, classification.malware) ?? id;
  return {
    recordId: id,
    canonicalKey: `uuid:${id}`,
    externalId: id,
    title: clip(info, 500),
    publisher: asText(asObject(event['Orgc'])['name'])?.trim().slice(0, 200).toWellFormed(),
    url: findReportUrl(attributes),
    textUrl: url,
    publishTime,
    modifiedAt: parseEpochSeconds(event['timestamp']),
    tlp: findTlpTag([event, ...attributes.map(({ holder }) => holder)]),
    withdrawn: isSet(event['deleted']),
    ...rateEvent(event, info),
    eventFirstSeen: attributes.flatMap(({ holder }) => parseInstant(holder['first_seen']) ?? []).toSorted()[0],
    ...describe(description?.text),
    classification,
    attackPath,
    affectedProducts: [],
    iocs,
    storedText: stored.text.text(),
    passages: stored.text.passages(),
  };
}

/** The stored text of an event, and the spans of its fields by path. */
type StoredEvent = { text: StoredText; spans: ReadonlyMap<string, Span> };

/** Stores the fields of an event, with its `info` as the first passage. */
function storeEvent(event: JsonObject): StoredEvent {
  const text = createStoredText();
  // Attached files are megabytes of text.
  const spans = text.addFields(event, { leaveOut: (path) => path.endsWith('.data') });
  const info = spans.get('info');
  if (info) text.addPassage(info);
  return { text, spans };
}

type EventParts = Pick<ParseContext, 'reliability' | 'lists'> & {
  event: JsonObject;
  attributes: EventAttribute[];
  description: EventDescription | undefined;
  stored: StoredEvent;
};

/** Reads the indicators and the classification of an event from its tags, attributes and prose. Their passages are added to the stored text. */
function readEvent({
  event,
  attributes,
  description,
  stored: { text, spans },
  reliability,
  lists,
}: EventParts): Pick<SourceRecord, 'iocs' | 'classification' | 'attackPath'> {
  const whole = text.text();
  const classification = createClassificationBuilder(lists?.names);
  const statements = createStatementCollector(lists?.benign);
  const findField = (path: string): Span => spans.get(path) ?? spans.values().next().value!;
  for (const { holder, prefix } of [{ holder: event, prefix: '' }, ...attributes])
    addTags(holder, classification, {
      reliability,
      names: lists?.names,
      addEvidence: (path) => text.addPassage(findField(`${prefix}${path}`)),
    });
  const addEvidence = ({ prefix }: EventAttribute, value: string): string => {
    const field = findField(`${prefix}value`);
    return text.addPassage(locateValue(whole, field, value) ?? field, valueMaxChars);
  };
  const context = { statements, classification, reliability, withdrawn: isSet(event['deleted']), addEvidence };
  for (const attribute of attributes) addAttribute(attribute, context);
  const prose = { ...context, text, lists };
  if (description && !description.isReport && !description.isExtracted) addProse(description.span, prose);
  addEventReports(event, spans, prose);
  // Without galaxies, the title is often all that names the threat.
  if (!classification.hasNames() && !description?.isExtracted)
    addProseNames(classification, asText(event['info']) ?? '', lists?.names);
  for (const { framework, id, confidence } of statements.mappings) classification.addMapping(framework, id, confidence);
  const iocs = statements.iocs(findEventTimes(event)[0]);
  return { iocs, ...classification.build([...inferPlatforms(iocs), ...readPlatformTags(event)]) };
}

function rateEvent(event: JsonObject, info: string): Pick<SourceRecord, 'severity' | 'severityRule'> {
  const tagged = findSeverityTag(event);
  const word = tagged ?? severityByThreatLevel.get(asScalarText(event['threat_level_id']));
  const { severity, rule } = judgeSeverity({ word, text: info, exploited: 'no' });
  return { severity, severityRule: rule === 'source' && !tagged ? 'source:misp-threat-level' : rule };
}

/** Adds the statements of the galaxies and tags of an event, an object or an attribute. */
function addTags(
  holder: JsonObject,
  classification: ClassificationBuilder,
  context: {
    reliability: number;
    names: NonNullable<ParseContext['lists']>['names'];
    /** Makes the field with the cluster or tag a supporting passage and returns its `evidenceRef`. */
    addEvidence: (path: string) => string;
  },
): void {
  for (const { cluster, path } of listClusters(holder))
    classifyCluster(classification, cluster, {
      confidence: context.reliability,
      addEvidence: () => context.addEvidence(path),
    });
  for (const tag of asObjects(holder['Tag'])) {
    const tagged = findTaggedName(asText(tag['name']) ?? '', context.names);
    if (tagged) classification.addName(tagged.kind, tagged.name, context.reliability);
  }
}

type EventContext = {
  statements: ReturnType<typeof createStatementCollector>;
  classification: ClassificationBuilder;
  reliability: number;
  withdrawn: boolean;
  /** Makes the value of an attribute a supporting passage and returns its `evidenceRef`. */
  addEvidence: (attribute: EventAttribute, value: string) => string;
};

const isWithdrawn = ({ holder, isObjectDeleted }: EventAttribute): boolean =>
  isSet(holder['deleted']) || isObjectDeleted;

/**
 * Adds a CVE, a CWE, a technique or the name of a threat that an attribute states, unless the attribute was deleted from its event. Returns
 * whether the value is a name and nothing else.
 */
function classifyAttribute(
  attribute: EventAttribute,
  { type, value }: { type: string; value: string },
  { classification, reliability, withdrawn, addEvidence }: EventContext,
): boolean {
  const { relation } = attribute;
  const kind = type === 'threat-actor' ? 'actor' : findNamedKind(relation);
  if (isWithdrawn(attribute) && !withdrawn) return kind !== undefined;
  const id = value.trim().toUpperCase();
  if (type === 'vulnerability' && cvePattern.test(id)) classification.addMapping('cve', id, reliability);
  if (type === 'weakness' && cwePattern.test(id)) classification.addMapping('cwe', id, reliability);
  const technique = relation === 'attack-pattern id' ? findTechnique(id) : undefined;
  if (technique) classification.addTechnique(technique, reliability, () => addEvidence(attribute, value.trim()));
  if (!kind) return false;
  addEvidence(attribute, value.trim());
  classification.addName(kind, value, reliability);
  return true;
}

function addAttribute(attribute: EventAttribute, context: EventContext): void {
  const { statements } = context;
  const { holder, relation } = attribute;
  const [type, value] = [asText(holder['type'])?.trim(), readAttributeValue(holder)];
  if (!type || !value || isReportLink(holder) || isContext(holder)) return;
  if (classifyAttribute(attribute, { type, value }, context)) return;
  const statement = readStatement(attribute, context);
  const noted = findNotedType(type, asText(holder['comment']));
  for (const observable of noted ? [createObservable(noted, value)] : toObservables(type, value, relation)) {
    const isCertificate = observable.kind === 'indicator' && indicatorTypes[observable.type].bucket === 'certs';
    statements.state(observable, isCertificate ? { ...statement, until: attribute.validUntil } : statement);
    if (observable.kind === 'indicator') context.addEvidence(attribute, observable.value);
  }
}

/** Returns the statement of an attribute, its tags and its sightings about its value. */
function readStatement(attribute: EventAttribute, { reliability, withdrawn }: EventContext): IndicatorStatement {
  const { holder } = attribute;
  const tags = readTaxonomyTags(holder);
  const sightings = asObjects(holder['Sighting']);
  const lastSeen = [parseInstant(holder['last_seen']) ?? [], listSightingTimes(sightings, sightingTypes.seen)]
    .flat()
    .toSorted()
    .at(-1);
  const expiredAt = listSightingTimes(sightings, sightingTypes.expired).toSorted().at(-1);
  return {
    confidence: tags.confidence ?? reliability * (isSet(holder['to_ids']) ? 1 : contextFactor),
    firstSeen: parseInstant(holder['first_seen']),
    lastSeen,
    // A later sighting cancels the expiration.
    until: expiredAt && expiredAt > (lastSeen ?? '') ? expiredAt : undefined,
    revoked: withdrawn || isWithdrawn(attribute),
    falsePositive:
      tags.falsePositive || sightings.some(({ type }) => asScalarText(type) === sightingTypes.falsePositive),
    phishing: tags.phishing,
    role: tags.role,
  };
}

/** The values of `type` in a MISP sighting. */
const sightingTypes = { seen: '0', falsePositive: '1', expired: '2' };

const listSightingTimes = (sightings: JsonObject[], wanted: string): string[] =>
  sightings
    .filter(({ type }) => asScalarText(type) === wanted)
    .flatMap((sighting) => parseEpochSeconds(sighting['date_sighting']) ?? []);

/** Returns whether an attribute is about the victim or the analysts' own systems, and not meant for detection. */
const isContext = (holder: JsonObject): boolean =>
  /^(?:Targeting data|Internal reference|Support Tool|Person)$/.test(asText(holder['category']) ?? '') &&
  !isSet(holder['to_ids']);

/** Returns whether an attribute is the address of an analysis, which is not meant for detection. */
const isReportLink = (holder: JsonObject): boolean =>
  holder['type'] === 'url' && holder['category'] === 'External analysis' && !isSet(holder['to_ids']);

/** Returns the address of the published report that the event describes. */
export const findReportUrl = (attributes: EventAttribute[]): string | undefined =>
  attributes
    .filter(({ holder }) => holder['type'] === 'link' || isReportLink(holder))
    .map(({ holder }) => asText(holder['value'])?.trim() ?? '')
    .find(isWebLink);

/** Returns the date of an event and the time of its last change, without missing ones. The first is its publish time. */
export const findEventTimes = (event: JsonObject): string[] =>
  [parseInstant(asText(event['date'])), parseEpochSeconds(event['timestamp'])].filter((time) => time !== undefined);

/** Returns the platforms in tags such as `ms-caro-malware:malware-platform="Win32"`. */
const readPlatformTags = (event: JsonObject) =>
  asObjects(event['Tag'])
    .map((tag) => /platform(?:-type)?="([^"]{1,40})"$/i.exec(asText(tag['name']) ?? '')?.[1])
    .map((word) => (word === undefined ? undefined : findPlatform(word)))
    .filter((platform) => platform !== undefined);

/** Parses a MISP time in seconds since 1970, as text or number. 0 means that there is none. */
function parseEpochSeconds(value: unknown): string | undefined {
  const seconds = typeof value === 'number' ? value : /^\d{1,11}$/.test(asText(value) ?? '') ? Number(value) : 0;
  return seconds > 0 && seconds < 8e10 ? new Date(seconds * 1000).toISOString() : undefined;
}
