import type { Candidate } from '../../analysis/candidate.ts';
import type { FollowUp } from '../../analysis/category.ts';
import { inferEntityType } from '../../analysis/rows/entity-fields.ts';
import { enrichTool, listEnrichable } from '../../tools/enrich.ts';
import { joinQuoted, nameSubject, truncateAtWord } from '../../analysis/wording.ts';
import type { Observation } from '../observation.ts';
import type { Citation, Claim } from '../verdict.ts';
import { isInternalAddress } from '../claims/mask-case.ts';
import type { CaseValues, EventCell } from './case-values.ts';

/** A call of a tool, with the question that its result answers. `conclude` returns what the result says, or undefined if it says nothing. */
export type Question = {
  text: string;
  tool: string;
  input: Record<string, unknown>;
  conclude: (found: Observation) => Claim | undefined;
};

/** A candidate with the values that its events have, if they could be read. */
type Case = { candidate: Candidate; values: CaseValues | undefined };

const weekHours = 7 * 24;
const shownMax = 3;
const othersMax = 5;
const valueCharsMax = 120;
const minuteChars = 'YYYY-MM-DDTHH:mm'.length;

/** The questions by their names. Each returns none if the candidate has nothing that it could be about. */
const questions: Record<FollowUp, (of: Case) => Question[]> = {
  same_address: ({ candidate, values }) => (values?.address ? whoElse(candidate, values, values.address) : []),
  same_value: ({ candidate, values }) => (values?.newValue ? whoElse(candidate, values, values.newValue) : []),
  what_else: ({ candidate, values }) => {
    const { quoted } = nameSubject(candidate);
    if (!values?.actionField) return [];
    const { dataset, entity, actionField: field } = values;
    return [
      {
        text: `What else did ${quoted} do that day?`,
        tool: 'count_by',
        input: { dataset, field, where: [{ field: entity.field, value: entity.value }], limit: 10 },
        conclude: (found) => {
          const others = found.rows.filter(({ fields }) => isShort(fields[field]) && !values.known.has(fields[field]!));
          const shown = others.slice(0, shownMax);
          if (shown.length === 0) return undefined;
          const list = shown.map(({ fields }) => `“${fields[field]}” (${fields['events']})`).join(', ');
          const cites = shown.flatMap((row) => [citeCell(found, row, field), citeCell(found, row, 'events')]);
          const more = others.length > shown.length || found.truncated ? ', and more' : '';
          return toFact(
            `In the day before the end of the window, ${quoted} did more than its rows show: ${list}${more}.`,
            cites,
          );
        },
      },
    ];
  },
  since_when: ({ candidate, values }) => {
    if (!values) return [];
    const { quoted, start } = nameSubject(candidate);
    const { dataset, entity } = values;
    return [
      {
        text: `Since when does ${quoted} occur?`,
        tool: 'count_by',
        input: { dataset, where: [{ field: entity.field, value: entity.value }], hours: weekHours },
        conclude: (found) => {
          const [first] = found.rows;
          if (!first?.time || found.from === null) return undefined;
          const at = first.time.slice(0, minuteChars).replace('T', ' ');
          const isOld = Date.parse(first.time) - Date.parse(found.from) < 24 * 3_600_000;
          const text = isOld
            ? `${start} already had events at the beginning of the week before, around ${at} UTC.`
            : `The first events of ${quoted} in the week before are of ${at} UTC or soon after.`;
          return toFact(text, [citeCell(found, first, 'events')]);
        },
      },
    ];
  },
  known_here: ({ candidate }) => {
    const { quoted, start } = nameSubject(candidate);
    return [
      {
        text: `What does the organization know of ${quoted}?`,
        tool: 'entity_profile',
        input: {},
        conclude: (found) => {
          const of = (kind: string) => found.rows.filter(({ fields }) => fields['kind'] === kind).slice(0, shownMax);
          const [list] = of('list');
          if (list && isShort(list.fields['list']))
            return toFact(`${start} is on the list “${list.fields['list']}”.`, [citeCell(found, list, 'list')]);
          const hits = of('hit').filter(({ fields }) => isShort(fields['detection']));
          if (hits.length === 0) return undefined;
          const names = joinQuoted([...new Set(hits.map(({ fields }) => fields['detection']!))]);
          return toFact(
            `${start} had hits before, of ${names}.`,
            hits.flatMap((row) => [citeCell(found, row, 'detection'), citeCell(found, row, 'status')]),
          );
        },
      },
    ];
  },
  where_from: ({ candidate }) => {
    const values = listEnrichable(candidate);
    if (values.length === 0) return [];
    return [
      {
        text: 'Where are its addresses?',
        tool: enrichTool,
        input: { values },
        conclude: (found) => {
          const shown = found.rows.filter(({ fields }) => describeOrigin(fields) !== '').slice(0, shownMax);
          if (shown.length === 0) return undefined;
          const list = shown.map(({ fields }) => `“${fields['value']}” is ${describeOrigin(fields)}`).join(', ');
          const cites = shown.flatMap((row) =>
            ['value', ...originFields].flatMap((field) => (row.fields[field] ? [citeCell(found, row, field)] : [])),
          );
          return toFact(`By what enrichers know, ${list}.`, cites);
        },
      },
    ];
  },
  related_hits: () => [
    {
      text: 'Which other hits share a value with it?',
      tool: 'related_hits',
      input: {},
      conclude: (found) => {
        const shown = found.rows
          .filter(({ fields }) => isShort(fields['detection']) && isShort(fields['entity']))
          .slice(0, shownMax);
        if (shown.length === 0) return undefined;
        const list = shown.map(({ fields }) => `“${fields['detection']}” on “${fields['entity']}”`).join(', ');
        const cites = shown.flatMap((row) => [citeCell(found, row, 'detection'), citeCell(found, row, 'entity')]);
        return toFact(`Other hits share a value with it: ${list}.`, cites);
      },
    },
  ],
  known_to_feed: (of) =>
    listIndicators(of).map((value) => ({
      text: `What does the threat feed say about “${value}”?`,
      tool: 'lookup_indicator',
      input: { value },
      conclude: (found) => {
        const [status, item] = found.rows;
        if (!status?.fields['status']) return undefined;
        const cites = [citeCell(found, status, 'value'), citeCell(found, status, 'status')];
        if (status.fields['status'] === 'unknown')
          return toFact(`No item of the threat feed contains “${value}”.`, cites);
        const title = item?.fields['title'];
        const where = item && isShort(title) ? `, in “${title}”` : '';
        return toFact(`The threat feed has “${value}” with the status “${status.fields['status']}”${where}.`, [
          ...cites,
          ...(where === '' ? [] : [citeCell(found, item!, 'title')]),
        ]);
      },
    })),
};

const originFields = ['city', 'country', 'organization', 'asn'];

/** Returns where an address is and whose network it belongs to, or ''. */
function describeOrigin(fields: Observation['rows'][number]['fields']): string {
  const place = [fields['city'], fields['country']].filter(isShort).join(', ');
  const network = isShort(fields['organization']) ? `of ${fields['organization']}` : '';
  const asn = fields['asn'] ? `(AS${fields['asn']})` : '';
  return [place === '' ? '' : `in ${place}`, network, asn].filter((part) => part !== '').join(' ');
}

const questionsMax = 8;

/** Returns the questions about a candidate, at most eight. */
export const listQuestions = (of: Case, followUps: readonly FollowUp[]): Question[] =>
  followUps.flatMap((name) => questions[name](of)).slice(0, questionsMax);

/** Returns the question who else had a value in the week before. */
function whoElse({ entity }: Candidate, { dataset, actorField: field }: CaseValues, about: EventCell): Question[] {
  if (field === undefined || !isShort(about.value)) return [];
  const what = `${about.field} “${about.value}”`;
  return [
    {
      text: `Who else had ${what} in the week before?`,
      tool: 'count_by',
      input: { dataset, field, where: [{ field: about.field, value: about.value }], hours: weekHours },
      conclude: (found) => {
        const isOwn = (name: string | undefined): boolean => name?.toLowerCase() === entity.toLowerCase();
        const others = found.rows.filter(({ fields }) => isShort(fields[field]) && !isOwn(fields[field]));
        const shown = others.slice(0, othersMax);
        const own = found.rows.find(({ fields }) => isOwn(fields[field]));
        if (shown.length === 0) {
          if (!own || found.truncated || found.rows.length > 1) return undefined;
          const cites = [about.cite, citeCell(found, own, field), citeCell(found, own, 'events')];
          return toFact(
            `Nobody else had ${what} in the week before: all events with it are of “${own.fields[field]}” (${own.fields['events']}).`,
            cites,
          );
        }
        const names = joinQuoted(shown.map(({ fields }) => fields[field]!));
        const kind = inferEntityType(field, shown[0]!.fields[field]!);
        const who = kind === 'entity' ? field : `${kind}s`;
        const more = others.length > shown.length || found.truncated ? ', and more' : '';
        const cites = [about.cite, ...shown.map((row) => citeCell(found, row, field))];
        return toFact(`In the week before, ${what} also occurs with these ${who}: ${names}${more}.`, cites);
      },
    },
  ];
}

/** Returns values that a threat feed may know: an external address, a domain or a hash of the rows or events. */
function listIndicators({ candidate: { rows }, values }: Case): string[] {
  const cells = rows.flatMap(({ fields }) => Object.entries(fields));
  const isKnowable = (field: string, value: string): boolean => {
    if (!isShort(value) || /\s/.test(value)) return false;
    switch (inferEntityType(field, value)) {
      case 'ip':
        return !isInternalAddress(value) && /[.:]/.test(value);
      case 'domain':
        return value.includes('.');
      case 'hash':
        return /^[0-9a-f]{32,64}$/i.test(value);
      default:
        return false;
    }
  };
  const found = cells.filter(([field, value]) => isKnowable(field, value)).map(([, value]) => value);
  const address = values?.address && !isInternalAddress(values.address.value) ? [values.address.value] : [];
  return [...new Set([...address, ...found])].slice(0, indicatorsMax);
}

const indicatorsMax = 2;

/** A longer value, or one with quotation marks, would have to be cut. */
export const isShort = (value: string | undefined): boolean =>
  value !== undefined && value.length <= valueCharsMax && !/["“”«»`]/.test(value);

const citeCell = ({ id }: Observation, { rowId, fields }: Observation['rows'][number], field: string): Citation => ({
  observation: id,
  rowId,
  field,
  value: fields[field] ?? '',
});

const toFact = (text: string, cites: Citation[]): Claim => ({ text: truncateAtWord(text, 500), kind: 'fact', cites });
