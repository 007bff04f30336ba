import { createRandom, type Random } from '../../src/demo/company/random.ts';
import { pullDocument, type ApiCall } from '../../test/support/api-client.ts';

/** The documents of the three sources that the program pulls. */
export type SeedDocuments = { reports: string; mirror: string; catalogue: string };

/** The first number. All numbers have eight digits, so that every entry has the same length. */
export const firstNumber = 10_000_000;

const publishers = ['Alder Labs', 'Quayside CERT', 'Blue Fen', 'Harrow Research'];
const platforms = ['windows', 'linux', 'macos', 'android'];
const vocabularySize = 20_000;

/**
 * Builds documents of `count` invented entries, numbered from `first` and published on `day`. Entries at the same place in two calls differ only
 * in their number, which is part of the ID, the CVE, and the indicator that no other entry has.
 */
export function buildSeeds(first: number, count: number, day: Date): SeedDocuments {
  const vocabulary = vocabularyOf(createRandom('vocabulary'));
  const entries = Array.from({ length: count }, (_, place) => {
    const random = createRandom('seed', place);
    return { place, day, number: String(first + place), text: (words: number) => textOf(random, vocabulary, words) };
  });
  const events = entries.filter(({ place }) => place % 5 !== 0);
  const rows = entries.filter(({ place }) => place % 5 === 0);
  const reports = events.map((entry) => eventOf(entry, publishers[entry.place % publishers.length]!));
  const mirrored = events.filter(({ place }) => place % 10 === 9).map((entry) => eventOf(entry, 'Tarn Mirror'));
  return {
    reports: JSON.stringify({ response: reports }),
    mirror: JSON.stringify({ response: mirrored }),
    catalogue: JSON.stringify({ dateReleased: day, count: rows.length, vulnerabilities: rows.map(rowOf) }),
  };
}

/** Creates three sources in the caller's organization and pulls the documents. */
export async function pullSeeds(call: ApiCall, seeds: SeedDocuments, visibility: 'shared' | 'private'): Promise<void> {
  const sources = [
    { kind: 'misp', name: 'Reports', text: seeds.reports },
    { kind: 'misp', name: 'Mirror', text: seeds.mirror },
    { kind: 'kev', name: 'Catalogue', text: seeds.catalogue, publisher: 'Northmere' },
  ];
  for (const { text, ...source } of sources) {
    const { added, skipped } = await pullDocument(call, { ...source, visibility }, text);
    if (added === 0 || skipped.length > 0)
      throw new Error(`${source.name}: ${added} added, ${JSON.stringify(skipped)}`);
  }
}

type Entry = { place: number; number: string; day: Date; text: (words: number) => string };

function eventOf({ place, number, day, text }: Entry, publisher: string): object {
  const platform = platforms[place % 7];
  const domain = { type: 'domain', category: 'Network activity', to_ids: true };
  return {
    Event: {
      uuid: `00000000-0000-4000-8000-0000${number}`,
      info: text(25),
      date: day.toISOString().slice(0, 10),
      timestamp: String(Math.floor(day.getTime() / 1_000)),
      threat_level_id: String(1 + (place % 4)),
      Orgc: { name: publisher },
      Tag: tagsOf(place, platform),
      Attribute: [
        { type: 'vulnerability', category: 'External analysis', value: `CVE-2030-${number}` },
        { ...domain, value: `host-${number}.example`, comment: text(20) },
        { ...domain, value: `shared-${place % 20}.example`, comment: text(8) },
      ],
    },
  };
}

function tagsOf(place: number, platform: string | undefined): { name: string }[] {
  const names = ['tlp:clear'];
  if (platform) names.push(`bench:platform="${platform}"`);
  if (place % 16 === 1) names.push('misp-galaxy:mitre-attack-pattern="Command and Scripting Interpreter - T1059"');
  if (place % 40 === 1) names.push('misp-galaxy:threat-actor="APT28"');
  return names.map((name) => ({ name }));
}

function rowOf({ place, number, day, text }: Entry): object {
  return {
    cveID: `CVE-2030-${number}`,
    vendorProject: place % 15 === 0 ? 'Microsoft' : text(1),
    product: place % 15 === 0 ? 'Windows' : text(2),
    vulnerabilityName: text(7),
    dateAdded: day.toISOString().slice(0, 10),
    shortDescription: text(40),
    requiredAction: 'Apply the update.',
    dueDate: '2026-01-26',
    knownRansomwareCampaignUse: place % 2 === 0 ? 'Known' : 'Unknown',
    notes: '',
    cwes: ['CWE-287'],
  };
}

const letters = [...'etaoinshrdlucm'];

const vocabularyOf = (random: Random): string[] =>
  Array.from({ length: vocabularySize }, () =>
    Array.from({ length: random.int(3, 9) }, () => random.pick(letters)).join(''),
  );

/** Picks words unevenly: as in natural language, few words are frequent and most are rare. */
const textOf = (random: Random, vocabulary: string[], words: number): string =>
  Array.from({ length: words }, () => vocabulary[Math.floor(vocabulary.length * random.next() ** 3)]!).join(' ');
