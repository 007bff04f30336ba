import { joinSentences, listFirstSentences } from '../extraction/text/sentence-spans.ts';
import { createStoredText, type StoredText } from '../extraction/text/stored-text.ts';
import type { SeverityRating } from '../extraction/severity/judge-severity.ts';
import { emptyIocs, type SourceRecord } from '../model/source-record.ts';
import { buckets, stricterTlp, type Bucket, type Tlp } from '../model/vocabulary.ts';

export const cvePattern = /^CVE-\d{4}-\d{4,19}$/;
export const cwePattern = /^CWE-\d+$/;

/** Trims a text and cuts it to a maximum length. Half of a surrogate pair becomes U+FFFD. */
export const clip = (text: string, maxChars: number): string => text.trim().slice(0, maxChars).toWellFormed();

/** Returns whether a text is an HTTP address that is short enough to store. */
export const isWebLink = (text: string): boolean => /^https?:\/\//i.test(text) && text.length <= 2_000;

export const strictestTlp = (tlps: Tlp[]): Tlp | undefined =>
  tlps.length === 0 ? undefined : tlps.reduce((strictest, tlp) => stricterTlp(strictest, tlp));

/** Returns the level in a label such as `severity:high` or `misp:threat-level="medium-risk"`. */
export const findSeverityLabel = (labels: string[]): string | undefined =>
  labels
    .map((label) => /(?:severity|threat-level)\s*[:=]\s*"?(none|low|medium|moderate|high|critical)\b/i.exec(label)?.[1])
    .find((word) => word !== undefined);

/** Stores every field of a source object and makes the fields at `provenPaths` supporting passages. */
export function storeFields(object: object, provenPaths: string[]): StoredText {
  const text = createStoredText();
  const spans = text.addFields(object, { spansOf: provenPaths });
  for (const path of provenPaths) if (spans.has(path)) text.addPassage(spans.get(path)!);
  return text;
}

/** Returns the record fields that follow from a description, which may be Markdown. */
export function describe(text: string | undefined): Pick<SourceRecord, 'abstract' | 'summary' | 'tldr'> {
  const sentences = text ? listFirstSentences(toPlainText(text), 3) : [];
  return { abstract: text, summary: joinSentences(sentences, 600), tldr: joinSentences(sentences.slice(0, 1), 300) };
}

/** Returns the record fields that are the same for every kind of vulnerability record. */
export const toVulnerabilityFields = (description: string | undefined, rating: SeverityRating, text: StoredText) => ({
  ...describe(description),
  severity: rating.severity,
  severityRule: rating.rule,
  iocs: emptyIocs(),
  storedText: text.text(),
  passages: text.passages(),
});

const bucketNames: Record<Bucket, [one: string, many: string]> = {
  ipv4: ['IPv4 address', 'IPv4 addresses'],
  ipv6: ['IPv6 address', 'IPv6 addresses'],
  domains: ['domain', 'domains'],
  urls: ['URL', 'URLs'],
  hashes: ['hash', 'hashes'],
  files: ['file', 'files'],
  registryKeys: ['registry key', 'registry keys'],
  processes: ['process', 'processes'],
  certs: ['certificate', 'certificates'],
  cloudIds: ['cloud id', 'cloud ids'],
  mobileIds: ['mobile app', 'mobile apps'],
};

/** Describes what an item without a title contains: a single value, or `2 domains and 1 hash`, with the malware. Undefined for no indicators. */
export function describeIndicators(iocs: SourceRecord['iocs'], malware: { name: string }[]): string | undefined {
  const counted = buckets.filter((bucket) => iocs[bucket].length > 0);
  const [first] = counted;
  if (!first) return undefined;
  const names = malware.map(({ name }) => name).slice(0, 3);
  const suffix = names.length > 0 ? ` (${names.join(', ')})` : '';
  const [only, ...others] = counted.flatMap((bucket) => iocs[bucket]);
  if (others.length === 0) return `${capitalize(bucketNames[first][0])} ${only!.normalizedValue}${suffix}`;
  const counts = counted.map((bucket) => {
    const { length } = iocs[bucket];
    return `${length} ${bucketNames[bucket][length === 1 ? 0 : 1]}`;
  });
  return `${new Intl.ListFormat('en').format(counts)}${suffix}`;
}

const capitalize = (text: string): string => text[0]!.toUpperCase() + text.slice(1);

const readMaxChars = 20_000;
/** Any text without these characters is plain. */
const marks = /[#*_`[<|=]|---|\(Citation/;
const tags =
  /<\/?(?:code|pre|p|br|b|i|u|em|strong|ul|ol|li|a|h[1-6]|div|span|table|tr|td|th|tbody|thead)(?:\s[^<>]{0,300})?\/?>/gi;

/**
 * Returns the beginning of a text without the marks of Markdown and HTML, for a summary: headings, rules, emphasis, links (whose text stays),
 * images, and the citations of ATT&CK. Returns the text itself if nothing else remains.
 */
export function toPlainText(text: string): string {
  const head = text.slice(0, readMaxChars);
  if (!marks.test(head)) return text;
  const plain = head
    .replaceAll(tags, ' ')
    .replaceAll(/^[ \t]*(?:#{1,6}[ \t].*|[-=*_|: \t]{3,}|_-=.*=-_|```.*)$/gm, '')
    .replaceAll(/\(Citation: [^()]{1,200}\)/g, '')
    .replaceAll(/!\[[^\]]{0,300}\]\([^()\s]{0,2000}\)/g, '')
    .replaceAll(/\[([^\]]{1,300})\]\([^()\s]{1,2000}\)/g, '$1')
    .replaceAll(/^[ \t]*(?:[-*+]|\d{1,3}\.)[ \t]+/gm, '')
    .replaceAll(/\*\*(\S[^*\n]*\S|\S)\*\*/g, '$1')
    .replaceAll(/(?<![*\w])\*(\w(?:[^*\n]{0,200}\w)?)\*(?![*\w])/g, '$1')
    .replaceAll(/`([^`\n]+)`/g, '$1')
    .trim();
  return plain === '' ? text : plain;
}
