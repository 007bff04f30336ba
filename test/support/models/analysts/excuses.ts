import type { PromptCase, Result, Row } from './case-prompt.ts';
import { cite, fact, type ScriptedClaim } from './questions.ts';
import { sayCommon, sayJudged, sayListed, sayQuote, sayRecurs } from './sentences.ts';

const quoteMax = 300;
const commonMin = 6;

/** Values that a text about a case would name: the entity and the short values of its rows. */
const listSubjects = ({ entity, rows }: PromptCase): Set<string> =>
  new Set([entity, ...rows.flatMap(({ fields }) => Object.values(fields))].filter((value) => value.length <= 64));

const names = (text: string, value: string): boolean => text.toLowerCase().includes(value.toLowerCase());

const dates = /\d{4}-\d\d-\d\d/g;

/** Returns whether the time that a text gives contains the events. One without dates is valid at any time. */
function coversTime(text: string, rows: readonly Row[]): boolean {
  const [from, to] = (text.match(dates) ?? []).toSorted();
  return (
    from === undefined ||
    rows.every(({ time }) => time === null || (time.slice(0, 10) >= from && time.slice(0, 10) <= (to ?? from)))
  );
}

/** Fields that say what happened. A text that explains it names one of their values. */
const behaviors = [
  'country',
  'source.geo.country_iso_code',
  'eventName',
  'domain',
  'url.domain',
  'action',
  'src_ip',
  'source.ip',
  'command_line',
  'event.action',
];

/** Returns whether a text names the entity, says what it does, and is about this time. That somebody asks for a conclusion explains nothing. */
export function explains(text: string, found: PromptCase): boolean {
  const values = found.rows.flatMap(({ fields }) => behaviors.flatMap((field) => fields[field] ?? []));
  const isAbout =
    names(text, found.entity) || [...listSubjects(found)].some((value) => value.length >= 7 && names(text, value));
  const saysWhat =
    values.length === 0
      ? /\b(?:transfer|backup|job|upload|export|renamed|copies)\b/i.test(text)
      : values.some((value) => names(text, value));
  return (
    isAbout &&
    saysWhat &&
    coversTime(text, found.rows) &&
    !/\b(?:rejected|cancelled|dismiss|verdict|analyst|ignore)\b/i.test(text)
  );
}

const shorten = (text: string): string => text.slice(0, quoteMax).trim();

/** Returns the claims that explain a case as harmless by what the organization itself recorded. */
export function listExcuses(found: PromptCase, recursOften: boolean): ScriptedClaim[] {
  const { entity, notes, entries, hits, documents, facts, results } = found;
  return [
    ...notes
      .filter(({ note, entity: about }) => explains(`${about} ${note}`, found))
      .map(({ id, note }) => fact(sayQuote(entity, shorten(note)), { note: id })),
    ...documents.flatMap(({ name, content }) =>
      content
        .split('\n')
        .filter((line) => explains(line, found))
        .map((line) => fact(sayQuote(entity, shorten(line)), { document: name, quote: shorten(line) })),
    ),
    ...entries.map(({ list, entry }) => fact(sayListed(entity, entry), { list, entry })),
    ...hits
      .filter(({ status, isReviewed }) => isReviewed && (status === 'benign' || status === 'false_positive'))
      .map(({ id, status }) => fact(sayJudged(entity, status), { hit: id })),
    ...results.flatMap((result) => listRecords(result, found)),
    ...(recursOften && facts['recurs'] === true
      ? ['recurredDays', 'recurredPeers']
          .filter((name) => Number(facts[name]) > 0)
          .map((name) => fact(sayRecurs(entity, name, String(facts[name])), { fact: name }))
      : []),
  ];
}

/** Returns the rows of a system of record that explain a case. */
function listRecords(result: Result | undefined, found: PromptCase): ScriptedClaim[] {
  return (result?.rows ?? []).flatMap((row) => {
    const text = Object.values(row.fields).join(' ');
    const subject = row.fields['record'];
    return subject !== undefined && explains(text, found)
      ? [fact(sayQuote(found.entity, subject), cite(result!.observation, row, 'record', subject))]
      : [];
  });
}

/** Returns claims about values of the rows that a count shows many others to have. */
export function listCommon(found: PromptCase): ScriptedClaim[] {
  const { rows, results, entity } = found;
  const [row] = rows;
  if (!row) return [];
  const fields = ['source.ip', 'url.domain', 'src_ip'].filter((field) => row.fields[field] !== undefined);
  const isShared = results.some(
    (result) =>
      result && result.rows.length >= commonMin && result.columns.some(({ name }) => /user|host|role/i.test(name)),
  );
  return isShared
    ? fields.map((field) => fact(sayCommon(entity, row.fields[field]!), cite('rows', row, field, row.fields[field]!)))
    : [];
}
