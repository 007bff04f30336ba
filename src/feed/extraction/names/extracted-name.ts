import { nameKey } from '../../reference-data/name-forms.ts';
import type { Span } from '../text/stored-text.ts';
import type { NamedEntity, NameKind } from './dictionary/name-dictionary.ts';

export const spansMax = 20;

export type ExtractedName = {
  kind: NameKind;
  name: string;
  aliases: string[];
  confidence: number;
  /** The forms in the text. */
  printed: string[];
  spans: Span[];
  /** The possible actors, if several share this alias. */
  ambiguous?: string[];
};

export type NameSighting = { word: string; span: Span; confidence: number; ambiguous?: string[] };

/** Adds a sighting of an entity, or adds it to the name that was found before. */
export function addName(entity: NamedEntity, seen: NameSighting, found: Map<string, ExtractedName>): void {
  const key = `${entity.kind === 'actor' ? 'actor' : 'software'} ${nameKey(entity.name)}`;
  const known = found.get(key);
  if (!known) {
    const { word, span, ambiguous } = seen;
    const confidence = Math.round(seen.confidence * 100) / 100;
    found.set(key, {
      kind: entity.kind,
      name: entity.name,
      aliases: entity.aliases,
      confidence,
      printed: [word],
      spans: [span],
      ...(ambiguous ? { ambiguous } : {}),
    });
    return;
  }
  known.confidence = Math.max(known.confidence, Math.round(seen.confidence * 100) / 100);
  if (!known.printed.includes(seen.word)) known.printed.push(seen.word);
  if (known.spans.length < spansMax) known.spans.push(seen.span);
}

/** Merges a name into the same name with its kind: `Lumma` and `Lumma Stealer` in one text are one malware. */
export function mergeVariants(names: ExtractedName[]): ExtractedName[] {
  const merged = new Set<ExtractedName>();
  const software = names.filter(({ kind }) => kind !== 'actor');
  for (const short of software) {
    const start = nameKey(short.name);
    const long = software.find(
      ({ name }) => nameKey(name).startsWith(start) && kindSuffix.test(nameKey(name).slice(start.length)),
    );
    if (!long || short.ambiguous || merged.has(long)) continue;
    merged.add(short);
    const others = new Set([...long.aliases, short.name, ...short.aliases]);
    others.delete(long.name);
    long.aliases = [...others];
    long.confidence = Math.max(long.confidence, short.confidence);
    long.printed = [...new Set([...long.printed, ...short.printed])];
    long.spans = [...long.spans, ...short.spans].slice(0, spansMax);
  }
  return names.filter((name) => !merged.has(name));
}

const kindSuffix =
  /^(?:malware|ransomware|locker|loader|downloader|dropper|backdoor|infostealer|stealer|rat|trojan|worm|wiper|botnet|bot|webshell|rootkit|c2)$/;
