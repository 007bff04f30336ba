import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { QueryRow } from '../../src/detection/siem/connector.ts';
import { withoutOutsideText } from '../../src/detection/verdicts/planted-text/outside-text.ts';
import { screenCandidate } from '../../src/detection/verdicts/planted-text/screen-candidate.ts';
import { findPlantedCue } from '../../src/detection/verdicts/planted-text/phrases/planted-text.ts';
import { inferFieldRole } from '../../src/detection/verdicts/planted-text/phrases/field-roles.ts';
import type { QualityFigure } from '../figures.ts';
import { measureAttacks, toCandidate, type Planting } from './injection-attacks.ts';
import { readRecordedJson, readRecordedRows, requireData } from '../recorded-inputs.ts';

/** Measures attacks that succeed on a judge that obeys planted text, and false alarms on texts and logs without any. */
export async function measureInjection(verbose: boolean): Promise<QualityFigure[]> {
  const recorded = readRecordedJson<{ source: string; category: string; text: string }[]>('injection/bipia.json');
  const ofSource = (name: string): Planting[] =>
    recorded.filter(({ source }) => source.endsWith(name)).map(({ category, text }) => ({ group: category, text }));
  const own = readOwn<{ style: string; text: string }>('planted-texts').map(({ style: group, text }) => ({
    group,
    text,
  }));
  return [
    ...(await measureAttacks('recorded strings, categories worked with', ofSource('train'), { verbose })),
    ...(await measureAttacks('recorded strings, other categories', ofSource('test'), { verbose })),
    ...(await measureAttacks('own strings', own, { verbose })),
    ...(await measureLater('later-texts', 'strings written after the rules', verbose)),
    ...(await measureLater('fresh-texts', 'strings of many forms, used for the rule on free text', verbose)),
    ...(await measureLater('held-back-texts', 'strings of many forms, first measured after it', verbose)),
    ...(await measureLater('addressed-texts', 'addresses in other languages', verbose)),
    ...(await measureLater('accusing-texts', 'strings that mention the innocent person', verbose)),
    ...measureLogs(verbose),
    ...measureTexts(verbose),
  ];
}

const readOwn = <Row>(name: string): Row[] =>
  JSON.parse(readFileSync(new URL(`planted/${name}.json`, import.meta.url), 'utf8')) as Row[];

/** Measures texts that were never used for the rules that recognize text, which leaves them to the rule on free text. */
async function measureLater(file: string, name: string, verbose: boolean): Promise<QualityFigure[]> {
  const plantings = readOwn<{ style: string; text: string }>(file).map(({ style: group, text }) => ({ group, text }));
  const recognized = plantings.filter(({ text }) => findPlantedCue(text, inferFieldRole('comment')) !== undefined);
  const measured = `${recognized.length} of ${plantings.length}`;
  return [
    { name: `${name}: recognized in comment`, measured },
    ...(await measureAttacks(name, plantings, { verbose, accusing: file === 'accusing-texts' })),
  ];
}

/** Makes a candidate of every recorded event and counts those that would be marked for a person. */
function measureLogs(verbose: boolean): QualityFigure[] {
  return Object.entries(readLogs()).flatMap(([name, rows]) => {
    let [events, marked, withFreeText] = [0, 0, 0];
    for (const row of rows) {
      const candidate = toCandidate({ ...row, user: 'someone' });
      if (!candidate) continue;
      events += 1;
      if (withoutOutsideText(candidate)) withFreeText += 1;
      const { planted } = screenCandidate(candidate);
      if (planted.length === 0) continue;
      marked += 1;
      if (verbose) console.log(`  ${name}: ${planted.map(({ field, cue }) => `${field} ${cue}`).join(', ')}`);
    }
    const target =
      name.startsWith('CloudTrail') || name.startsWith('Windows')
        ? { target: '< 0.1 %', isMet: marked < events / 1000 }
        : {};
    return [
      { name: `false alarms, one candidate per event: ${name}`, measured: `${marked} of ${events}`, ...target },
      { name: `candidates whose dismissal needs a second judging: ${name}`, measured: `${withFreeText} of ${events}` },
    ];
  });
}

function readLogs(): Record<string, QueryRow[]> {
  const folder = (name: string): string => join(requireData(), name);
  const windows = readdirSync(folder('logs/windows')).flatMap((name) =>
    readRecordedRows<QueryRow>(`logs/windows/${name}/events.ndjson.gz`),
  );
  const cloudtrail = readdirSync(folder('logs/cloudtrail')).flatMap(
    (name) =>
      (JSON.parse(gunzipSync(readFileSync(folder(`logs/cloudtrail/${name}`))).toString()) as { Records: QueryRow[] })
        .Records,
  );
  const panther = readRecordedRows<{ tests?: { event?: QueryRow }[]; events?: { event?: QueryRow }[] }>(
    'detections/panther/rules.ndjson.gz',
  ).flatMap((rule) => [...(rule.tests ?? []), ...(rule.events ?? [])].flatMap(({ event }) => (event ? [event] : [])));
  const sigma = readRecordedRows<{ events?: QueryRow[] }>('detections/sigma/regression.ndjson.gz').flatMap(
    ({ events = [] }) => events,
  );
  return {
    'CloudTrail recording': cloudtrail,
    'Windows recordings': windows,
    'sample events of Panther rules': panther,
    'events of Sigma rules': sigma,
  };
}

/** Counts false alarms on texts that read like instructions, each in a field that would contain it. */
function measureTexts(verbose: boolean): QualityFigure[] {
  const own = readOwn<{ kind: string; text: string }>('benign-texts');
  const kev = readRecordedJson<{ vulnerabilities: { requiredAction: string; shortDescription: string }[] }>(
    'feed/kev/kev-latest.json.gz',
  ).vulnerabilities;
  const tram = readRecordedRows<{ text: string }>('feed/tram/reports.ndjson.gz');
  const fieldOf: Record<string, string> = {
    command: 'command_line',
    script: 'script_block_text',
    agent: 'user_agent',
    path: 'file_path',
    label: 'group_name',
  };
  const groups: [string, string, string[]][] = [
    ...[...Map.groupBy(own, ({ kind }) => kind)].map(([kind, list]): [string, string, string[]] => [
      `own ${kind} texts`,
      fieldOf[kind] ?? 'message',
      list.map(({ text }) => text),
    ]),
    ['required actions of KEV', 'message', kev.map(({ requiredAction }) => requiredAction)],
    ['descriptions of KEV', 'message', kev.map(({ shortDescription }) => shortDescription)],
    [
      'paragraphs of reports',
      'message',
      tram.flatMap(({ text }) => text.split(/\n+/).filter((part) => part.length > 20)),
    ],
  ];
  return groups.map(([name, field, texts]) => {
    const marked = texts.filter((text) => findPlantedCue(text.slice(0, 500), inferFieldRole(field)) !== undefined);
    if (verbose) for (const text of marked) console.log(`  ${name}: ${text.slice(0, 160)}`);
    return { name: `false alarms: ${name}`, measured: `${marked.length} of ${texts.length}` };
  });
}
