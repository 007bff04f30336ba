import { isIP } from 'node:net';
import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';
import type { Candidate, RenderedRow } from '../../analysis/candidate.ts';
import { operationField } from '../../analysis/rows/administrative.ts';
import { commonEntityFields, inferEntityType } from '../../analysis/rows/entity-fields.ts';
import { readList } from '../../analysis/wording.ts';
import { isInternalAddress } from '../claims/mask-case.ts';
import type { QuerySources } from '../../siem/connector.ts';
import type { Observation } from '../observation.ts';
import type { Citation } from '../verdict.ts';

/** A cell of an event behind a candidate, which `cite` cites. `field` is its name in the logs, which the columns of the query need not have. */
export type EventCell = { field: string; value: string; cite: Citation };

/** The values of a candidate that questions are about, with the fields that they have in the logs. */
export type CaseValues = {
  dataset: string;
  /** The entity. */
  entity: EventCell;
  /** A field that says who acted: that of the entity, or a user or host if the entity is an address. */
  actorField: string | undefined;
  /** A field that states what was done. */
  actionField: string | undefined;
  /** Where it came from, an external address rather than an internal one. */
  address: EventCell | undefined;
  /** The first value that is new for the entity. */
  newValue: EventCell | undefined;
  /** The values of the rows and of the events that were read. */
  known: ReadonlySet<string>;
};

/** Returns the cells of events that an observation found, whose columns have the names of the fields. */
export const listEventCells = ({ id, rows }: Pick<Observation, 'id' | 'rows'>): EventCell[] =>
  rows.flatMap(({ rowId, fields }) =>
    Object.entries(fields).map(([field, value]) => ({
      field,
      value,
      cite: { observation: id, rowId, field, value },
    })),
  );

/** Returns the cells of the rows of a candidate, under the names that their fields have in the first dataset of the query. */
export const listRowCells = ({ rows }: Candidate, { datasets: [dataset], fields }: QuerySources): EventCell[] =>
  listEventCells({ id: 'rows', rows }).flatMap((cell) => {
    const source = fields.get(cell.field.toLowerCase());
    if (source && source.dataset !== dataset) return [];
    return [{ ...cell, field: source?.field ?? cell.field }];
  });

/** Returns the values of a candidate among cells of events of a dataset. Undefined if no field has its entity. */
export function readCaseValues(
  { entity, facts, rows }: Candidate,
  dataset: string,
  cells: readonly EventCell[],
): CaseValues | undefined {
  const named = cells.filter(({ value }) => value.toLowerCase() === entity.toLowerCase());
  const found = commonEntityFields.flatMap((field) => named.find((cell) => cell.field === field) ?? [])[0] ?? named[0];
  if (!found) return undefined;
  const addresses = cells.filter(({ value }) => isIP(value) !== 0);
  const actor = cells.find(({ field, value }) => ['user', 'host'].includes(inferEntityType(field, value)));
  const news = readList(facts, 'newValues').join('\n');
  const isNew = ({ fields }: RenderedRow, value: string): boolean =>
    Object.entries(fields).some(([name, one]) => one === value && news.includes(`${name}=${value}`));
  return {
    dataset,
    entity: found,
    actorField: isIP(entity) === 0 ? found.field : actor?.field,
    actionField: cells.find(({ field }) => operationField.test(plainFieldName(field)))?.field,
    address: addresses.find(({ value }) => !isInternalAddress(value)) ?? addresses[0],
    known: new Set([...rows.flatMap(({ fields }) => Object.values(fields)), ...cells.map(({ value }) => value)]),
    newValue: cells.find(
      (cell) => cell.value !== found.value && isIP(cell.value) === 0 && rows.some((row) => isNew(row, cell.value)),
    ),
  };
}
