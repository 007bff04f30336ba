import { createHash } from 'node:crypto';
import { asText, asTexts } from '../../../platform/lib/json/json-values.ts';
import { locateValue } from '../../extraction/text/locate-value.ts';
import { firstSentences } from '../../extraction/text/sentence-spans.ts';
import { clip, describe, describeIndicators, findSeverityLabel } from '../record-fields.ts';
import type { SeverityRating } from '../../extraction/severity/judge-severity.ts';
import { rateDescription } from '../../extraction/severity/rate-report.ts';
import { createBelievableCheck, parseInstant, type SourceRecord } from '../../model/source-record.ts';
import { createStoredText, valueMaxChars, type Span, type StoredText } from '../../extraction/text/stored-text.ts';
import type { ParseContext } from '../source-format.ts';
import { classifyObjects, readObjectName, findObjectTlp } from './stix-classification.ts';
import { isContainer, type ObjectGroup } from './group-objects.ts';
import { collectIndicators } from './stix-indicators.ts';
import {
  isRevoked,
  findModifiedTime,
  listRefs,
  listExternalReferences,
  readTextField,
  type StixBundle,
  type StixSourceObject,
} from './stix-objects.ts';

/** Returns the record of a group of objects. `known` is the severity of the report that the group is a part of. */
export function toStixRecord(
  bundle: StixBundle,
  group: ObjectGroup,
  context: ParseContext,
  known?: SeverityRating,
): SourceRecord {
  const { head } = group;
  const members = group.members.toSorted(byTypeAndId);
  const all = head ? [head, ...members] : members;
  const stored = storeObjects(all);
  const description = head && asText(readStory(all).text);
  const reference = head ? undefined : findSharedReference(members);
  const publishTime = findPublishTime(group, context);
  const validObjects = all.filter((object) => object === head || !isRevoked(object));
  const content = readContent(
    bundle,
    { all, validObjects, stored },
    { ...context, publishTime, withdrawn: isHeadRevoked(head), prose: readProse(head, description, reference) },
  );
  const { iocs, classification } = content;
  const title = toTitle(context.sourceName ?? bundle.name, { head, reference, iocs, malware: classification.malware });
  const rating = known ?? rateHead(head, { title, description, publishTime }, context);
  return {
    recordId: findRecordId(bundle, group),
    canonicalKey: toKey(bundle, head),
    externalId: head?.id ?? bundle.id,
    title,
    publisher: findPublisher(bundle, head ? [head] : members),
    language: head && asText(head['lang']),
    url: findReportUrl(head) ?? reference?.url,
    publishTime,
    modifiedAt: all.map(findModifiedTime).filter(createBeliever(context)).toSorted().at(-1),
    tlp: findObjectTlp(all, bundle),
    withdrawn: isHeadRevoked(head),
    ...toSeverityFields(rating, description),
    eventFirstSeen: listTimes(validObjects, 'first_seen').at(0),
    eventLastSeen: listTimes(validObjects, 'last_seen').at(-1),
    ...describe(description),
    ...content,
    affectedProducts: [],
    storedText: stored.text.text(),
    passages: stored.text.passages(),
  };
}

/** Rates an item by its title, its description and the severity label of its head. */
const rateHead = (
  head: StixSourceObject | undefined,
  {
    title,
    description = '',
    publishTime,
  }: { title: string; description: string | undefined; publishTime: string | undefined },
  { lists }: ParseContext,
): SeverityRating =>
  rateDescription({
    title,
    description,
    word: head && findSeverityLabel(asTexts(head['labels'])),
    publishTime,
    names: lists?.names,
  });

const toSeverityFields = (
  { severity, rule }: SeverityRating,
  description: string | undefined,
): Pick<SourceRecord, 'severity' | 'severityRule' | 'severityEvidence'> => ({
  severity,
  severityRule: rule,
  // The description is the first passage.
  ...(description && rule.startsWith('report:') ? { severityEvidence: ['provenance.supportingPassages[0]'] } : {}),
});

const isHeadRevoked = (head: StixSourceObject | undefined): boolean => head !== undefined && isRevoked(head);

type RecordObjects = { all: StixSourceObject[]; validObjects: StixSourceObject[]; stored: StoredObjects };

/** Reads the indicators and the classification of objects. Their passages are added to the stored text. */
function readContent(
  { lastSightings, targeted }: StixBundle,
  { all, validObjects, stored: { text, names, references, ranges } }: RecordObjects,
  {
    reliability,
    lists,
    publishTime,
    withdrawn,
    prose,
  }: ParseContext & { publishTime: string | undefined; withdrawn: boolean; prose: string },
): Pick<SourceRecord, 'iocs' | 'classification' | 'attackPath'> {
  const whole = text.text();
  const { iocs, mappings } = collectIndicators(all, {
    reliability,
    benign: lists?.benign,
    publishTime,
    withdrawn,
    lastSightings,
    addEvidence: (object, value) => {
      const span = locateValue(whole, ranges.get(object.id)!, value);
      if (span) text.addPassage(span, valueMaxChars);
    },
  });
  const classified = classifyObjects(validObjects, {
    reliability,
    names: lists?.names,
    iocs,
    mappings,
    targeted,
    prose,
    addEvidence: (object) => text.addPassage(names.get(object.id) ?? references.get(object.id)!),
  });
  return { iocs, ...classified };
}

const proseMaxChars = 20_000;

/** Returns the title and description of a report. Descriptions of other objects mention names that they are not about. */
function readProse(
  head: StixSourceObject | undefined,
  description: string | undefined,
  reference: SharedReference | undefined,
): string {
  if (head && !isContainer(head)) return '';
  return [head ? readTextField(head, 'name') : (reference?.title ?? ''), description ?? '']
    .join('\n')
    .trim()
    .slice(0, proseMaxChars);
}

type SharedReference = { title: string; url: string };

/** Returns the report that all indicators outside of reports refer to, with its title as the name of the source. */
function findSharedReference(members: StixSourceObject[]): SharedReference | undefined {
  const indicators = members.filter(({ type }) => type === 'indicator');
  const [first, ...others] = indicators.map(listExternalReferences);
  const shared = first?.find(
    ({ name, url }) =>
      url !== undefined &&
      /^https?:\/\//i.test(url) &&
      name.split(/\s+/).length > 2 &&
      others.every((list) => list.some((one) => one.url === url)),
  );
  return shared && { title: shared.name, url: shared.url! };
}

const findReportUrl = (head: StixSourceObject | undefined): string | undefined =>
  head &&
  listExternalReferences(head)
    .map(({ url }) => url)
    .find((url) => url && /^https?:\/\//i.test(url));

type StoredObjects = {
  text: StoredText;
  names: Map<string, Span>;
  references: Map<string, Span>;
  /** The range of each object's lines. */
  ranges: Map<string, Span>;
};

/** Returns the prose of an item, which is the description of its head or else the first note on it, and the field that contains it. */
function readStory([head, ...members]: StixSourceObject[]): {
  object?: StixSourceObject;
  field: string;
  text: unknown;
} {
  const note = asText(head?.['description'])
    ? undefined
    : members.find((one) => one.type === 'note' && listRefs(one).includes(head?.id ?? ''));
  const field = note ? 'content' : 'description';
  const object = note ?? head;
  return { ...(object ? { object } : {}), field, text: object?.[field] };
}

/** Stores every field of the objects, with the description or the first object's name as the first passage. */
function storeObjects(objects: StixSourceObject[]): StoredObjects {
  const text = createStoredText();
  const [names, references, ranges] = [new Map<string, Span>(), new Map<string, Span>(), new Map<string, Span>()];
  let description: Span | undefined;
  const story = readStory(objects);
  for (const object of objects) {
    const spans = text.addFields(object);
    const [name, id] = [spans.get('name'), spans.get('id')!];
    if (name) names.set(object.id, name);
    references.set(object.id, findExternalId(spans) ?? id);
    ranges.set(object.id, toRange(spans));
    if (object === story.object) description = spans.get(story.field);
  }
  const firstPassage = description ?? (objects[0] && (names.get(objects[0].id) ?? references.get(objects[0].id)));
  if (firstPassage) text.addPassage(firstPassage);
  return { text, names, references, ranges };
}

function findExternalId(spans: ReadonlyMap<string, Span>): Span | undefined {
  for (const [path, span] of spans)
    if (path.startsWith('external_references[') && path.endsWith('.external_id')) return span;
  return undefined;
}

/** Every object has the spans of its type and id. */
function toRange(spans: ReadonlyMap<string, Span>): Span {
  let [start, end] = [Infinity, 0];
  for (const span of spans.values()) {
    start = Math.min(start, span.start);
    end = span.end;
  }
  return { start, end };
}

const typeOrder =
  'campaign intrusion-set threat-actor malware tool vulnerability attack-pattern indicator observed-data'.split(' ');
const rankByType = new Map(typeOrder.map((type, rank) => [type, rank]));
const rankOf = (type: string): number => rankByType.get(type) ?? rankByType.size;

function byTypeAndId(a: StixSourceObject, b: StixSourceObject): number {
  return (a.type === b.type ? 0 : rankOf(a.type) - rankOf(b.type)) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function toKey(bundle: StixBundle, head: StixSourceObject | undefined): string {
  const id = head?.id ?? bundle.id;
  if (id) return `uuid:${id.replace(/^.*--/, '').toLowerCase()}`;
  return `txt:${createHash('sha256').update(bundle.name).digest('hex')}`;
}

type TitleParts = Pick<SourceRecord, 'iocs'> & {
  head: StixSourceObject | undefined;
  reference: SharedReference | undefined;
  malware: SourceRecord['classification']['malware'];
};

/** Returns the name of the head or of the shared reference, or else a summary of the contents: `2 domains and 1 hash (Emotet)`. */
function toTitle(sourceName: string, { head, reference, iocs, malware }: TitleParts): string {
  const name = head ? (asText(head['name']) ?? asText(head['title'])) : reference?.title;
  if (name) return clip(name, 500);
  const description = firstSentences(head ? readTextField(head, 'description') : '', 1, 200);
  const contents = describeIndicators(iocs, malware);
  if (description ?? contents) return clip((description ?? contents)!, 500);
  if (!head) return clip(`Observations of ${sourceName}`, 500);
  const value = readTextField(head, 'pattern') || readTextField(head, 'value');
  return clip(value || `Unnamed ${head.type.replaceAll('-', ' ')}`, 500);
}

/** Returns the name of the identity that created all of the objects. */
function findPublisher(bundle: StixBundle, objects: StixSourceObject[]): string | undefined {
  const creators = new Set(objects.flatMap((object) => asText(object['created_by_ref']) ?? []));
  const creator = creators.size === 1 ? bundle.objects.get([...creators][0]!) : undefined;
  return creator?.type === 'identity' && asText(creator['name'])
    ? readObjectName(creator).slice(0, 200).toWellFormed()
    : undefined;
}

type Believer = (time: string | undefined) => time is string;

function createBeliever({ now }: ParseContext): Believer {
  const isTrue = now && createBelievableCheck(now);
  return (time): time is string => time !== undefined && (!isTrue || isTrue(time));
}

export const findRecordId = (bundle: StixBundle, { head }: ObjectGroup): string => head?.id ?? `bundle:${bundle.name}`;

/** Returns the report's own date or, without a head, the creation time of the newest object. Dates that are not believed are ignored. */
export function findPublishTime({ head, members }: ObjectGroup, context: ParseContext): string | undefined {
  const believe = createBeliever(context);
  if (head) return [parseInstant(head['published']), parseInstant(head['created'])].find(believe);
  const times = members.map((member) => parseInstant(member['created'])).filter(believe);
  return times.toSorted().at(-1);
}

const storyTypes = new Set(['campaign', 'report', 'grouping', 'incident', 'malware', 'intrusion-set']);

const listTimes = (objects: StixSourceObject[], name: string): string[] =>
  objects
    .filter(({ type }) => storyTypes.has(type))
    .map((object) => parseInstant(object[name]))
    .filter((time) => time !== undefined)
    .toSorted();
