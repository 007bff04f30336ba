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
  ['an alias names its entity', 'Geodo spread by mail.', ['malware Emotet']],
  ['an everyday word alone is none', 'They Play a role. Play it again.', []],
  ['an everyday word with a cue is one', 'The Play ransomware encrypts files.', ['malware Play']],
  [
    'a cue counts for the whole text',
    'Play hit two towns. The Play ransomware group asked for money.',
    ['malware Play'],
  ],
  ['with or without a blank', 'CobaltStrike malware and Cobalt Strike.', ['tool Cobalt Strike']],
  ['a form that nothing else has needs no cue', 'It ran BloodHound.', ['tool BloodHound']],
  ['the words beside it decide between actor and malware', 'DarkSide operators asked for money.', ['actor DarkSide']],
  ['and so for malware', 'The DarkSide ransomware encrypts.', ['malware DarkSide']],
  ['a program in lower case needs its ending', 'Run ipconfig and see. Then "ipconfig.exe" ran.', ['tool ipconfig']],
  ['a numbered actor needs no entry', 'TA577 and UNC4841 were busy.', ['actor TA577', 'actor UNC4841']],
  ['an id of an ATT&CK tactic is no actor', 'Initial Access (TA0001) and Impact TA0040.', []],
  ['a cue further off belongs to something else', 'Play, the loader says, begins. Play of ransomware.', []],
  ['beside a sure name in a list', 'It drops Emotet, Play, and others.', ['malware Emotet', 'malware Play']],
  ['and before one', 'Members of Play and Emotet.', ['malware Emotet', 'malware Play']],
  ['told what it is behind a comma', 'They used Play, a known piece of malware.', ['malware Play']],
  [
    'joined by a slash',
    'Seen: APT29/Red Finch and Emotet/Play.',
    ['actor APT29', 'actor Red Finch', 'malware Emotet', 'malware Play'],
  ],
  ['not in a detection name or a tag', 'Win32/Emotet.A and #Emotet', []],
  ['not of two words of a sentence', 'The dark side. They Dark side with us.', []],
  ['not inside addresses and paths', 'https://x.net/Emotet/ and C:\\Emotet and emotet.example', []],
])('%s', (_, text, names) => {
  expect(read(text)).toEqual(names);
});

test('an alias of two actors is ambiguous, not guessed', () => {
  expect(extractNames('Shared Name was seen.', dictionary)).toMatchObject([
    { name: 'Shared Name', ambiguous: ['Hidden Crane', 'Red Finch'] },
  ]);
});

test('spans are what is printed', () => {
  const text = 'First Geodo, later Emotet.';
  const [found] = extractNames(text, dictionary);
  expect(found?.spans.map(({ start, end }) => text.slice(start, end))).toEqual(['Geodo', 'Emotet']);
});

test('the shipped names know the common ones', () => {
  const names = extractNames('APT28 and Lazarus Group used TrickBot, Cobalt Strike and Mimikatz.').map(
    ({ name }) => name,
  );
  expect(names).toEqual(expect.arrayContaining(['APT28', 'Lazarus Group', 'TrickBot', 'Cobalt Strike', 'Mimikatz']));
});
