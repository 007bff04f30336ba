import { isIP } from 'node:net';
import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';
import type { Candidate, RenderedRow } from '../../analysis/candidate.ts';
import { operationField } from '../../analysis/rows/administrative.ts';
import { commonEntityFields, inferEntityType } from '../../analysis/rows/entity-fields.ts';
import { readList } from '../../analysis/wording.ts';
import { isInternalAddress } from '../claims/mask-case.ts';
import type { Observation } from '../observation.ts';

/** A cell of an event behind a candidate. `field` is its name in the logs, which the columns of the query need not have. */
export type EventCell = { observation: string; rowId: string; field: string; value: string };

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

/** Returns the events that an observation found, which are those of one dataset, as the values of a candidate. Undefined if no field has its entity. */
export function readCaseValues(
  { entity, facts, rows }: Candidate,
  dataset: string,
  observation: Observation,
): CaseValues | undefined {
  const cells = observation.rows.flatMap((row) => listCells(observation.id, row));
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

const listCells = (observation: string, { rowId, fields }: RenderedRow): EventCell[] =>
  Object.entries(fields).map(([field, value]) => ({ observation, rowId, field, value }));
