import { expect, test } from 'vitest';
import { parseNameTable } from './name-dictionary.ts';
import { extractNames } from './extract-names.ts';

const dictionary = parseNameTable(
  [
    'malware\tEmotet\tGeodo',
    'malware\t!Play\t!PlayCrypt',
    'malware\tDarkSide\t',
    'actor\tDarkSide\t',
    'tool\t!Cobalt Strike\t!Beacon',
    'tool\tipconfig\t',
    'actor\tAPT29\tCozy Bear|The Dukes',
    'actor\tHidden Crane\tShared Name',
    'actor\tRed Finch\tShared Name',
    'tool\tBloodHound\t',
  ].join('\n'),
);
const read = (text: string): string[] =>
  extractNames(text, dictionary)
    .map(({ kind, name }) => `${kind} ${name}`)
    .toSorted();

test.each([
  ['maps an alias to its entity', 'Geodo spread by mail.', ['malware Emotet']],
  ['ignores an everyday word without a cue', 'They Play a role. Play it again.', []],
  ['accepts an everyday word with a cue', 'The Play ransomware encrypts files.', ['malware Play']],
  [
    'applies a cue to the whole text',
    'Play hit two towns. The Play ransomware group asked for money.',
    ['actor Play', 'malware Play'],
  ],
  ['lists actors after their kind', 'Groups such as APT33 and Emotet were seen.', ['actor APT33', 'actor Emotet']],
  ['matches with or without a space', 'CobaltStrike malware and Cobalt Strike.', ['tool Cobalt Strike']],
  ['accepts a distinctive spelling without a cue', 'It ran BloodHound.', ['tool BloodHound']],
  ['recognizes an actor by the words beside the name', 'DarkSide operators asked for money.', ['actor DarkSide']],
  ['recognizes malware by the words beside the name', 'The DarkSide ransomware encrypts.', ['malware DarkSide']],
  [
    'requires the extension for a lower-case program',
    'Run ipconfig and see. Then "ipconfig.exe" ran.',
    ['tool ipconfig'],
  ],
  ['accepts numbered actors without an entry', 'TA577 and UNC4841 were busy.', ['actor TA577', 'actor UNC4841']],
  ['ignores ids of ATT&CK tactics', 'Initial Access (TA0001) and Impact TA0040.', []],
  ['ignores distant cues', 'Play, the loader says, begins. Play of ransomware.', []],
  [
    'accepts a name after a known name in a list',
    'It drops Emotet, Play, and others.',
    ['malware Emotet', 'malware Play'],
  ],
  ['accepts a name before a known name', 'Members of Play and Emotet.', ['malware Emotet', 'malware Play']],
  ['accepts a name with an apposition', 'They used Play, a known piece of malware.', ['malware Play']],
  [
    'accepts names joined by a slash',
    'Seen: APT29/Red Finch and Emotet/Play.',
    ['actor APT29', 'actor Red Finch', 'malware Emotet', 'malware Play'],
  ],
  ['ignores detection names and tags', 'Win32/Emotet.A and #Emotet', []],
  ['ignores two ordinary words of a sentence', 'The dark side. They Dark side with us.', []],
  ['ignores addresses and paths', 'https://x.net/Emotet/ and C:\\Emotet and emotet.example', []],
])('%s', (_, text, names) => {
  expect(read(text)).toEqual(names);
});

test('reports an alias of two actors as ambiguous', () => {
  expect(extractNames('Shared Name was seen.', dictionary)).toMatchObject([
    { name: 'Shared Name', ambiguous: ['Hidden Crane', 'Red Finch'] },
  ]);
});

test('returns the spans of the printed forms', () => {
  const text = 'First Geodo, later Emotet.';
  const [found] = extractNames(text, dictionary);
  expect(found?.spans.map(({ start, end }) => text.slice(start, end))).toEqual(['Geodo', 'Emotet']);
});

test('finds common names with the shipped dictionary', () => {
  const names = extractNames('APT28 and Lazarus Group used TrickBot, Cobalt Strike and Mimikatz.').map(
    ({ name }) => name,
  );
  expect(names).toEqual(expect.arrayContaining(['APT28', 'Lazarus Group', 'TrickBot', 'Cobalt Strike', 'Mimikatz']));
});
