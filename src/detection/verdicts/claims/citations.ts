import type { RenderedRow } from '../../analysis/candidate.ts';
import { isRecordId, isTimeField } from '../../analysis/rows/row-times.ts';
import type { Observation } from '../observation.ts';
import type { Citation, VerdictEvidence } from '../verdict.ts';
import type { CaseFile } from './case-file.ts';
import { containsWhole, normalizeText } from './stated-values.ts';

/**
 * What a citation refers to. `text` is the whole cell, note, fact, entry or passage, `value` what is cited of it. `times` are those of the cited rows.
 * `isEvent` means that it stands in the logs: in the candidate's rows, or in an observation that read them.
 */
export type CitedCell = Omit<VerdictEvidence, 'why'> & {
  text: string;
  times: Date[];
  isEvent: boolean;
  proof: Proof;
};

/**
 * Whether a citation can prove that a case is harmless: never, always, or only if the value is established, because an attacker may
 * have written it.
 */
export type Proof = 'none' | 'proves' | 'if-established';

export type ResolvedCitation = { cell: CitedCell } | { problem: string };

const quotedMin = 8;

/** Resolves a citation in a case. Returns the cited cell, or why there is none. */
export function resolveCitation(citation: Citation, file: CaseFile): ResolvedCitation {
  if ('rowId' in citation) return resolveCell(citation, file);
  if ('column' in citation) return resolveAggregate(citation, file);
  if ('fact' in citation) return resolveFact(citation.fact, file);
  if ('hit' in citation) {
    const hit = file.hits.find(({ id }) => id === citation.hit);
    if (!hit) return { problem: 'there is no such earlier hit' };
    const { id, status, detection, severity, reason } = hit;
    const text = [detection, severity, status, reason ?? ''].join('\n');
    const proof = hit.isReviewed && isHarmless(status);
    return toCell({ observation: 'hit', rowId: id, field: 'status', value: status }, { text, proof });
  }
  if ('note' in citation) {
    const note = file.notes.find(({ id }) => id === citation.note);
    if (!note) return { problem: 'there is no such note' };
    const cell = { observation: 'note', rowId: note.id, field: note.entity, value: note.note };
    return toCell(cell, { text: `${note.entity}\n${note.note}`, proof: true });
  }
  if ('list' in citation) {
    const found = file.entries.find(({ list, entry }) => list === citation.list && entry === citation.entry);
    if (!found) return { problem: 'the list does not have this entry' };
    const cell = { observation: 'list', rowId: found.list, field: 'entry', value: found.entry };
    return toCell(cell, { text: `${found.list}\n${found.entry}`, proof: true });
  }
  if ('document' in citation) {
    const document = file.documents.find(({ name }) => name === citation.document);
    if (!document?.content) return { problem: 'there is no such document' };
    if (!isQuoted(document.content, citation.quote)) return { problem: 'the document does not say this' };
    const cell = { observation: 'document', rowId: document.name, field: 'quote', value: citation.quote };
    return toCell(cell, { text: citation.quote, proof: true });
  }
  const item = file.items.find(({ id }) => id === citation.item);
  if (!item) return { problem: 'there is no such feed item' };
  if (!isQuoted(item.title, citation.quote)) return { problem: 'the feed item does not say this' };
  const cell = { observation: 'item', rowId: item.id, field: item.indicator, value: citation.quote };
  return toCell(cell, { text: `${item.indicator}\n${item.title}`, proof: false });
}

const toCell = (
  cell: Omit<VerdictEvidence, 'why'>,
  { text, proof }: { text: string; proof: boolean },
): ResolvedCitation => ({
  cell: { ...cell, text, times: [], isEvent: false, proof: proof ? 'proves' : 'none' },
});

function resolveCell(
  { observation: id, rowId, field, value }: Extract<Citation, { rowId: string }>,
  { candidate, observations }: CaseFile,
): ResolvedCitation {
  const observation = observations.find((one) => one.id === id);
  if (id !== 'rows' && !observation) return { problem: 'there is no such observation' };
  if (observation && kindOf(observation, field) === 'other')
    return { problem: 'the query itself computed this column, so that it proves nothing' };
  const rows = observation?.rows ?? candidate.rows;
  const cited = rows.filter((row) => row.rowId === rowId || row.eventIds?.includes(rowId));
  if (cited.length === 0)
    return { problem: observation ? 'the observation has no row with this ID' : 'the entity has no row with this ID' };
  const found = cited.flatMap((row) => {
    const text = Object.hasOwn(row.fields, field) ? row.fields[field] : field === 'time' ? row.time : undefined;
    return text === undefined || text === null ? [] : [{ row, text }];
  });
  if (found.length === 0) return { problem: 'the row does not have this field' };
  const match = found.find(({ text }) => isQuoted(text, value));
  if (!match) return { problem: 'the field has a different value' };
  return {
    cell: {
      observation: id,
      rowId,
      field,
      value,
      text: match.text,
      times: listRowTimes(match.row),
      isEvent: observation === undefined || observation.source === 'events',
      proof: findProof(observation, match.row),
    },
  };
}

/** A cell of the logs proves something if its value is established, and one of the organization's own records if people wrote it. */
function findProof(observation: Observation | undefined, { fields }: RenderedRow): Proof {
  if (!observation) return 'if-established';
  if (observation.isTrusted) return 'proves';
  switch (observation.source) {
    case 'events':
      return 'if-established';
    case 'records':
      return isOwnRecord(fields) ? 'proves' : 'none';
    case 'reference':
    case 'outside':
      return 'none';
  }
}

const isOwnRecord = ({ kind, status }: RenderedRow['fields']): boolean =>
  kind === 'note' || kind === 'list' || (kind === 'hit' && isHarmless(status));

const isHarmless = (status: string | undefined): boolean => status === 'benign' || status === 'false_positive';

/** Columns are listed, except the time that a row has besides its fields. */
const kindOf = ({ columns }: Observation, field: string) =>
  columns.find(({ name }) => name === field)?.kind ?? (field === 'time' ? 'value' : 'other');

const listRowTimes = ({ time }: RenderedRow): Date[] => (time === null ? [] : [new Date(time)]);

/** A figure of an observation that has one row: a count, a sum, the least or the greatest value. */
function resolveAggregate(
  { observation: id, column, value }: Extract<Citation, { column: string }>,
  { observations }: CaseFile,
): ResolvedCitation {
  const observation = observations.find((one) => one.id === id);
  if (!observation) return { problem: 'there is no such observation' };
  const kind = kindOf(observation, column);
  if (kind === 'other' || kind === 'value')
    return { problem: 'the column is no figure that code recognizes. Cite a row of it' };
  const row = observation.rows.find(({ fields }) => fields[column]?.trim() === value.trim());
  if (!row) return { problem: 'the column has a different value' };
  if (Number(value) === 0 && observation.hasEvents !== true)
    return { problem: 'a count of zero proves nothing where nobody knows whether there were events' };
  return {
    cell: {
      observation: id,
      rowId: row.rowId,
      field: column,
      value,
      text: [row.fields[column]!, ...Object.values(row.fields)].join('\n'),
      times: listRowTimes(row),
      isEvent: true,
      proof: observation.isTrusted ? 'proves' : 'none',
    },
  };
}

/** The facts that say how often this behavior recurs, which one event cannot change. */
const recurrenceFacts = new Set(['recurredDays', 'recurredPeers']);

function resolveFact(name: string, { facts }: CaseFile): ResolvedCitation {
  const fact = Object.hasOwn(facts, name) ? facts[name] : undefined;
  if (fact === undefined || fact === null) return { problem: 'there is no such fact' };
  const text = [fact].flat().map(String).join('\n');
  const proof = recurrenceFacts.has(name) && facts['recurs'] === true;
  return toCell({ observation: 'fact', rowId: '', field: name, value: text }, { text, proof });
}

/** Returns whether a cited cell says more than when or under which ID something happened. */
export const saysSomething = ({ field, value, text }: CitedCell): boolean =>
  !isTimeField(field, value) && !isTimeField(field, text) && !isRecordId(field, text);

/** Returns whether a citation quotes a complete value, or at least 8 characters of whole words. Part of an address or name would be a different one. */
function isQuoted(text: string, value: string): boolean {
  const quoted = value.trim();
  if (quoted === '') return false;
  if (quoted === text.trim()) return true;
  return quoted.length >= quotedMin && containsWhole({ text: normalizeText(text) }, normalizeText(quoted));
}
