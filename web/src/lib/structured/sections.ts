import { fieldToWords, toWords } from '../text.ts';
import { nameOf, type Field } from './fields.ts';

/** `prose` is read, `code` is a pattern or a query, `value` a technical value, and `plain` a word or a number. */
export type Entry = { label: string; field: Field; form: 'prose' | 'code' | 'value' | 'plain' };

/** Fields of an object, or of an element of a list inside of it. */
export type Section = { title: string | undefined; entries: Entry[] };

export type ArrangedFields = { sections: Section[]; /** Fields that say little to a reader. */ minor: Entry[] };

/**
 * Arranges the fields of an object for reading: first its own fields, then those of each element of its lists. Identifiers and settings of
 * the format are `minor` unless `isNeeded`.
 */
export function arrangeFields(fields: readonly Field[], isNeeded: (field: Field) => boolean): ArrangedFields {
  const sections = new Map<string, Section>();
  const type = fields.find(({ path }) => path.length === 1 && path[0] === 'type');
  sections.set('', { title: type && toWords(type.value), entries: [] });
  const minor: Entry[] = [];
  const labelOf = labelIn(fields);
  for (const field of fields) {
    if (!isNeeded(field) && (field === type || isMinor(field))) {
      minor.push({ label: labelOf(field.path), field, form: formOf(field) });
      continue;
    }
    // A scalar in a list is a field of the list's owner.
    const last = field.path.findLastIndex((step, index) => typeof step === 'number' && index < field.path.length - 1);
    const place = field.path.slice(0, last + 1);
    const key = place.join('.');
    const section = sections.get(key) ?? { title: labelOf(place), entries: [] };
    sections.set(key, section);
    section.entries.push({ label: labelOf(field.path, last + 1), field, form: formOf(field) });
  }
  mergeSingles(sections);
  return { sections: [...sections.values()].filter(({ entries }) => entries.length > 0), minor };
}

/** Moves list elements of one field to the object's own fields. */
function mergeSingles(sections: Map<string, Section>): void {
  for (const [key, { title, entries }] of sections) {
    const [entry] = entries;
    if (key === '' || !entry || entries.length > 1) continue;
    sections.get('')!.entries.push({
      ...entry,
      label: `${title} ${entry.label.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())}`,
    });
    sections.delete(key);
  }
}

/**
 * Returns a function that labels the end of a path: `['Orgc', 'name']` is `Orgc name`, and `['references', 0]` is `References 1`, or
 * `References` if the list has one element.
 */
function labelIn(fields: readonly Field[]): (path: Field['path'], start?: number) => string {
  const listOf = (path: Field['path'], index: number): string => path.slice(0, index).join('.');
  const longLists = new Set(
    fields.flatMap(({ path }) =>
      path.flatMap((step, index) => (typeof step === 'number' && step > 0 ? [listOf(path, index)] : [])),
    ),
  );
  return (path, start = 0) => {
    const words = path.map((step, index) => {
      if (typeof step !== 'number') return step;
      return longLists.has(listOf(path, index)) ? step + 1 : '';
    });
    return fieldToWords(words.slice(start).filter(Boolean).join(' '));
  };
}

const settings = new Set(
  (
    'created modified spec_version pattern_version timestamp distribution disable_correlation attribute_count template_version exportable hide_tag ' +
    'colour local deleted is_galaxy is_custom_galaxy proposal_email_lock locked'
  ).split(' '),
);
const uuids = /^(?:(?:[a-z-]+--)?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:, |$))+$/i;

const isMinor = (field: Field): boolean =>
  settings.has(nameOf(field)) ||
  uuids.test(field.value) ||
  (/(?:^|_)id$/.test(nameOf(field)) && /^\d+$/.test(field.value));

function formOf(field: Field): Entry['form'] {
  const { value } = field;
  if (/pattern$|query$|^rule$|^criteria$/i.test(nameOf(field)) && value.length > 12) return 'code';
  const words = value.split(/\s+/).length;
  if (words > 12 || (words > 1 && value.includes('\n'))) return 'prose';
  const isTechnical =
    words === 1 && /[./\\:@]|^[\da-f]{32,}$/i.test(value) && !/^\d+\.\d+$|^\d{4}-\d\d-\d\dT/.test(value);
  return isTechnical ? 'value' : 'plain';
}
