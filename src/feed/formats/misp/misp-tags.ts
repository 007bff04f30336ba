import { stricterTlp, type Tlp } from '../../model/vocabulary.ts';
import type { ClassificationBuilder } from '../../extraction/classification-builder.ts';
import { isObject, asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { findTlp } from '../../extraction/tlp.ts';
import { findTechnique, cacheFromTechniques, type Technique } from '../../reference-data/attack.ts';

/** What a galaxy holds, by its type. */
const kinds: [RegExp, 'actor' | 'tool' | 'technique' | 'malware'][] = [
  [/threat-actor$|intrusion-set$|microsoft-activity-group$/, 'actor'],
  [/attack-pattern$/, 'technique'],
  [/(?:^|-)tool$|^exploit-kit$|^tds$/, 'tool'],
  [/malware|^malpedia$|^ransomware$|^rat$|^stealer$|^banker$|^botnet$|^backdoor$|^cryptominers$|^android$/, 'malware'],
];

type Cluster = { galaxy: string; value: string; aliases: string[] };

/** A tag of a galaxy: `misp-galaxy:threat-actor="Sofacy"`. */
const galaxyTag = /^misp-galaxy:([a-z0-9-]+)="([^"]{1,500})"$/i;

/** The galaxy clusters of an event, an object or an attribute: those that are spelled out, then those that only a tag names. */
export function listClusters(holder: JsonObject): { cluster: Cluster; path: string }[] {
  const found: { cluster: Cluster; path: string }[] = [];
  const spelled = new Set<string>();
  for (const [at, galaxy] of asObjects(holder['Galaxy']).entries()) {
    for (const [index, one] of asObjects(galaxy['GalaxyCluster']).entries()) {
      const meta = isObject(one['meta']) ? one['meta'] : {};
      const value = asText(one['value']);
      const tag = asText(one['tag_name']);
      if (!value) continue;
      if (tag) spelled.add(tag);
      const type = asText(one['type']) ?? asText(galaxy['type']) ?? '';
      const cluster = { galaxy: type, value, aliases: asTexts(meta['synonyms']).slice(0, 100) };
      found.push({ cluster, path: `Galaxy[${at}].GalaxyCluster[${index}].value` });
    }
  }
  for (const [at, tag] of asObjects(holder['Tag']).entries()) {
    const name = asText(tag['name'])?.trim() ?? '';
    const [, galaxy, value] = galaxyTag.exec(name) ?? [];
    // Some clusters are tagged by a number that says nothing without the galaxy.
    if (!galaxy || !value || spelled.has(name) || /^[0-9a-f-]{36}$/.test(value)) continue;
    found.push({ cluster: { galaxy, value, aliases: [] }, path: `Tag[${at}].name` });
  }
  return found;
}

/** Says what a cluster means for an item. `evidence` makes the passage. */
export function classifyCluster(
  found: ClassificationBuilder,
  { galaxy, value, aliases }: Cluster,
  { sure, evidence }: { sure: number; evidence: () => string },
): void {
  const kind = kinds.find(([pattern]) => pattern.test(galaxy))?.[1];
  if (kind === 'technique') {
    const technique = techniqueOf(value);
    if (technique) found.addTechnique(technique, sure, evidence);
    else found.addMapping('observable:attack-pattern', value, sure);
    return;
  }
  if (kind) {
    evidence();
    found.addName(kind, nameOf(value), sure, aliases);
  }
}

/** Clusters of ATT&CK carry the id after the name: `APT28 - G0007`. */
const nameOf = (value: string): string => value.replace(/ - [GS]\d{4}$/, '');

const byName = cacheFromTechniques(
  (techniques) => new Map(techniques.map((technique) => [technique.name.toLowerCase(), technique])),
);

function techniqueOf(value: string): Technique | undefined {
  const id = /\bT\d{4}(?:\.\d{3})?\b/.exec(value)?.[0];
  if (id) return findTechnique(id);
  return byName().get(value.trim().toLowerCase());
}

const tagsOf = (holder: JsonObject): string[] =>
  asObjects(holder['Tag']).map((tag) => asText(tag['name'])?.trim() ?? '');

/** The strictest TLP tag of the holders. */
export function findTlpTag(holders: JsonObject[]): Tlp | undefined {
  let strictest: Tlp | undefined;
  for (const name of holders.flatMap(tagsOf)) {
    const tlp = /^tlp:/i.test(name) ? findTlp(name) : undefined;
    if (tlp) strictest = strictest ? stricterTlp(strictest, tlp) : tlp;
  }
  return strictest;
}

const levels = new Map([
  ['completely-confident', 1],
  ['usually-confident', 0.75],
  ['fairly-confident', 0.5],
  ['rarely-confident', 0.25],
  ['unconfident', 0],
]);

/** What the taxonomies of MISP say of an attribute: how sure its maker was, whether it is known to be wrong, whether it is of phishing. */
export function readTaxonomyTags(holder: JsonObject): {
  confidence: number | undefined;
  falsePositive: boolean;
  phishing: boolean;
} {
  const tags = tagsOf(holder);
  const level = tags.map((tag) => /^misp:confidence-level="([a-z-]+)"$/.exec(tag)?.[1]).find(Boolean);
  return {
    confidence: level === undefined ? undefined : levels.get(level),
    falsePositive: tags.some((tag) => /^false-positive:(?:confirmed="true"|risk="high")$/.test(tag)),
    phishing: tags.some((tag) => /phishing/i.test(tag)),
  };
}
