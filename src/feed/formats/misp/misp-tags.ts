import { targetRegion, targetSector, toMispRoleTag, valueRoles, type Tlp, findTlp } from '../../model/vocabulary.ts';
import type { ClassificationBuilder } from '../../extraction/classification-builder.ts';
import { asObject, asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { findTechnique, cacheFromTechniques, type Technique } from '../../reference-data/attack.ts';
import { findSeverityLabel, strictestTlp } from '../record-fields.ts';

/** The kind of clusters in a galaxy, by galaxy type. */
const kinds: [RegExp, 'actor' | 'tool' | 'technique' | 'malware'][] = [
  [/threat-actor$|intrusion-set$|microsoft-activity-group$/, 'actor'],
  [/attack-pattern$/, 'technique'],
  [/(?:^|-)tool$|^exploit-kit$|^tds$/, 'tool'],
  [/malware|^malpedia$|^ransomware$|^rat$|^stealer$|^banker$|^botnet$|^backdoor$|^cryptominers$|^android$/, 'malware'],
];

/** Galaxies of targets, with the framework of their mapping. A region starts with its number: `150 - Europe`. */
const targetGalaxies = new Map<string, string>([
  ['sector', targetSector],
  ['target-information', targetRegion],
  ['country', targetRegion],
  ['region', targetRegion],
]);

type Cluster = { galaxy: string; value: string; aliases: string[] };

/** A tag of a galaxy: `misp-galaxy:threat-actor="Sofacy"`. */
const galaxyTag = /^misp-galaxy:([a-z0-9-]+)="([^"]{1,500})"$/i;

/** Returns the galaxy clusters of an event, object or attribute: first the embedded ones, then those that occur only as a tag. */
export function listClusters(holder: JsonObject): { cluster: Cluster; path: string }[] {
  const clusters: { cluster: Cluster; path: string }[] = [];
  const embedded = new Set<string>();
  for (const [galaxyIndex, galaxy] of asObjects(holder['Galaxy']).entries()) {
    for (const [index, entry] of asObjects(galaxy['GalaxyCluster']).entries()) {
      const value = asText(entry['value']);
      const tag = asText(entry['tag_name']);
      if (!value) continue;
      if (tag) embedded.add(tag);
      const type = asText(entry['type']) ?? asText(galaxy['type']) ?? '';
      const cluster = { galaxy: type, value, aliases: asTexts(asObject(entry['meta'])['synonyms']).slice(0, 100) };
      clusters.push({ cluster, path: `Galaxy[${galaxyIndex}].GalaxyCluster[${index}].value` });
    }
  }
  for (const [index, tag] of asObjects(holder['Tag']).entries()) {
    const name = asText(tag['name'])?.trim() ?? '';
    const [, galaxy, value] = galaxyTag.exec(name) ?? [];
    // Some tags contain a UUID, which is meaningless without the galaxy.
    if (!galaxy || !value || embedded.has(name) || /^[0-9a-f-]{36}$/.test(value)) continue;
    clusters.push({ cluster: { galaxy, value, aliases: [] }, path: `Tag[${index}].name` });
  }
  return clusters;
}

/** Adds a cluster to the classification. `addEvidence` creates the supporting passage. */
export function classifyCluster(
  classification: ClassificationBuilder,
  { galaxy, value, aliases }: Cluster,
  { confidence, addEvidence }: { confidence: number; addEvidence: () => string },
): void {
  const target = targetGalaxies.get(galaxy);
  if (target) {
    addEvidence();
    classification.addMapping(target, value.replace(/^\d{1,3} - /, ''), confidence);
    return;
  }
  const kind = kinds.find(([pattern]) => pattern.test(galaxy))?.[1];
  if (kind === 'technique') {
    const technique = resolveTechnique(value);
    if (technique) classification.addTechnique(technique, confidence, addEvidence);
    // A deprecated technique, one of another matrix or a name without an id is not in the pinned table.
    else classification.addMapping('observable:attack-pattern', techniqueId.exec(value)?.[0] ?? value, confidence);
  } else if (kind) {
    addEvidence();
    classification.addName(kind, value, confidence, aliases);
  }
}

const techniqueId = /\bT\d{4}(?:\.\d{3})?\b/;

const byName = cacheFromTechniques(
  (techniques) => new Map(techniques.map((technique) => [technique.name.toLowerCase(), technique])),
);

function resolveTechnique(value: string): Technique | undefined {
  const id = techniqueId.exec(value)?.[0];
  if (id) return findTechnique(id);
  return byName().get(value.trim().toLowerCase());
}

const readTagNames = (holder: JsonObject): string[] =>
  asObjects(holder['Tag']).map((tag) => asText(tag['name'])?.trim() ?? '');

/** Returns the strictest TLP tag. */
export function findTlpTag(holders: JsonObject[]): Tlp | undefined {
  const names = holders.flatMap(readTagNames).filter((name) => /^tlp:/i.test(name));
  return strictestTlp(names.flatMap((name) => findTlp(name) ?? []));
}

/** Returns the severity of a tag such as `severity:critical`, which is finer than a threat level. */
export const findSeverityTag = (event: JsonObject): string | undefined => findSeverityLabel(readTagNames(event));

const confidenceByLevel = new Map([
  ['completely-confident', 1],
  ['usually-confident', 0.75],
  ['fairly-confident', 0.5],
  ['rarely-confident', 0.25],
  ['unconfident', 0],
]);

/** Returns the confidence, false-positive and phishing tags of an attribute (MISP taxonomies), and the role in an export of this program. */
export function readTaxonomyTags(holder: JsonObject): {
  confidence: number | undefined;
  falsePositive: boolean;
  phishing: boolean;
  role: string | undefined;
} {
  const tags = readTagNames(holder);
  const level = tags.map((tag) => /^misp:confidence-level="([a-z-]+)"$/.exec(tag)?.[1]).find(Boolean);
  return {
    confidence: level === undefined ? undefined : confidenceByLevel.get(level),
    falsePositive: tags.some((tag) => /^false-positive:(?:confirmed="true"|risk="high")$/.test(tag)),
    phishing: tags.some((tag) => /phishing/i.test(tag)),
    role: valueRoles.find((role) => tags.includes(toMispRoleTag(role))),
  };
}
