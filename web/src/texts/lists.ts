import { formatNumber } from '../lib/text.ts';

/** Texts of the value lists in the settings. */
export const texts = {
  description:
    'Who and what the organization has, such as people, assets and networks. Queries read a list as lists.<name>, detections leave its entries alone, and agents cite its rows.',
  none: 'No lists yet. A list of your networks or administrators is a good first one.',
  create: 'New list',
  edit: 'Edit',
  editTitle: (name: string) => `Edit ${name}`,
  rows: (count: number) => `${formatNumber(count)} ${count === 1 ? 'row' : 'rows'}`,
  usedBy: (count: number) =>
    count === 0 ? 'used by no detection' : `used by ${count} ${count === 1 ? 'detection' : 'detections'}`,
  failing: 'Not fetched',
  waiting: 'not fetched yet',
  name: 'Name',
  nameHint: 'Lower-case letters, digits, dots, dashes and underscores.',
  about: 'Description',
  from: 'Rows from',
  origins: { rows: 'Text or file', address: 'Address', query: 'Query' },
  csv: 'Rows as CSV',
  csvHint:
    'The first line has the names of the columns. The first column is matched: values, networks, and * for any text.',
  file: 'Or choose a CSV file',
  address: 'Address of a CSV file',
  addressHint: 'Fetched within seconds, and then on the schedule. Private addresses are refused.',
  query: 'Query',
  queryHint: 'As in a detection. It runs within seconds, and then on the schedule.',
  columns: 'Columns',
  columnsHint: 'Names of columns of the result, separated by commas. The first one is matched.',
  connection: 'Where it runs',
  store: 'The logs sent to Tocsin',
  span: 'Events of the last … hours',
  hours: 'Fetch every … hours',
  save: 'Save',
  saved: (name: string) => `Saved ${name}.`,
  remove: 'Delete',
  removeTitle: (name: string) => `Delete “${name}”?`,
  removeBody: 'Queries that read it fail from then on. This cannot be undone.',
  removed: (name: string) => `Deleted ${name}.`,
};
