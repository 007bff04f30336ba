import type { CitedValue, Claim, Observation } from '../../api/hits.ts';
import { texts } from '../../texts/evidence.ts';
import { CitedCells } from './cited-cells.tsx';
import { formatFact } from './fact-list.tsx';
import { ObservationView } from './observation-view.tsx';

type Props = {
  claim: Claim;
  /** What the verdict cites, with the values. */
  evidence: readonly CitedValue[];
  observations: readonly Observation[];
  /** The computed facts, of which `evidence` may lack some. */
  facts?: Readonly<Record<string, unknown>>;
};

/** What a sentence cites: the cells in the rows of the query that found them, and anything else as it is known. */
export function ClaimSource({ claim, evidence, observations, facts = {} }: Props) {
  const cells = claim.cites.map((citation) => toCitedValue(citation, evidence, facts));
  const places = Map.groupBy(cells, (cell) => observations.find(({ id }) => id === cell.observation));
  return (
    <>
      {[...places].map(([observation, cited]) =>
        observation === undefined ? (
          <CitedCells key="others" cells={cited} />
        ) : (
          <CitedRows
            key={observation.id}
            observation={observation}
            cited={cited}
            isUnproven={claim.status === 'unproven'}
          />
        ),
      )}
    </>
  );
}

type RowsProps = { observation: Observation; cited: readonly CitedValue[]; isUnproven: boolean };

function CitedRows({ observation, cited, isUnproven }: RowsProps) {
  const cells = cited.flatMap((cell) => findCells(cell, observation));
  const missing = cited.filter((cell) => {
    const found = findCells(cell, observation);
    return found.length === 0 || (isUnproven && !found.some(({ text }) => text.includes(cell.value.trim())));
  });
  return (
    <div className="flex flex-col gap-2">
      {missing.map(({ rowId, field, value }) => (
        <p key={`${rowId} ${field} ${value}`} className="text-12 wrap-anywhere text-muted">
          {texts.notFound(field, value)}
        </p>
      ))}
      <ObservationView observation={observation} cells={cells} />
    </div>
  );
}

/** Returns the cited cells that exist, with their whole text. A figure is cited without its row, by its value. */
function findCells(cell: CitedValue, { rows }: Observation): (CitedValue & { text: string })[] {
  return rows.flatMap(({ rowId, eventIds = [], fields, time }) => {
    const text = Object.hasOwn(fields, cell.field) ? fields[cell.field] : cell.field === 'time' ? time : null;
    if (text === undefined || text === null) return [];
    const isCited = cell.rowId === '' ? text.trim() === cell.value.trim() : [rowId, ...eventIds].includes(cell.rowId);
    return isCited ? [{ ...cell, rowId, text }] : [];
  });
}

/** Returns a citation with the value that it refers to, as far as the verdict keeps it. */
function toCitedValue(
  citation: Claim['cites'][number],
  evidence: readonly CitedValue[],
  facts: Readonly<Record<string, unknown>>,
): CitedValue {
  const { observation, rowId = '', field, column, value = '' } = citation;
  if (observation !== undefined) return { observation, rowId, field: field ?? column ?? '', value, why: '' };
  const { fact } = citation;
  if (fact !== undefined && Object.hasOwn(facts, fact))
    return { observation: 'fact', rowId: '', field: fact, value: formatFact(facts[fact]), why: '' };
  const place = findPlace(citation);
  const kept = evidence.find(
    (one) =>
      one.observation === place.observation &&
      one.rowId === place.rowId &&
      (place.observation !== 'fact' || one.field === place.field) &&
      (place.value === '' || one.value === place.value),
  );
  return { ...(kept ?? place), why: '' };
}

/** Where a citation of something else than a row stands. */
function findPlace(citation: Claim['cites'][number]): Omit<CitedValue, 'why'> {
  const { fact, hit, note, list, entry = '', document, item = '', quote = '' } = citation;
  if (fact !== undefined) return { observation: 'fact', rowId: '', field: fact, value: '' };
  if (hit !== undefined) return { observation: 'hit', rowId: hit, field: 'status', value: '' };
  if (note !== undefined) return { observation: 'note', rowId: note, field: '', value: '' };
  if (list !== undefined) return { observation: 'list', rowId: list, field: 'entry', value: entry };
  if (document !== undefined) return { observation: 'document', rowId: document, field: 'quote', value: quote };
  return { observation: 'item', rowId: item, field: 'quote', value: quote };
}
